// Csr, the sparse matrix of trnsci.sparse: made from row-compressed arrays or triplets, checked once; its arrays are
// NumPy's over the same memory. And what is done with one: transpose, add, cut, glue, drop, reorder, dense and back.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <trn/sparse/convert.hpp>
#include <trn/sparse/structure.hpp>

#include "bindings.hpp"
#include "operators.hpp"

namespace trn::python {
namespace {

using sparse::Csr;

constexpr Types kIndices = only(DType::Int32) | only(DType::Int64);

template <class T> std::span<const T> span_of(const Operand& o, const char* name) {
  require(o.shape.size() == 1 && (o.strides[0] == 1 || o.shape[0] <= 1), "sparse: {} must be a contiguous vector",
          name);
  return {o.pointer<const T>(), static_cast<std::size_t>(o.shape[0])};
}

SparseMatrix from_csr(std::int64_t rows, std::int64_t columns, nb::handle indptr, nb::handle indices, nb::handle data,
                      bool sum) {
  Call call("sparse.csr", nb::cast(Executor::host()), {indptr, indices, data});
  const Operand p = call.in(indptr, "indptr", kIndices), i = call.in(indices, "indices", only(DType::Int32)),
                v = call.in(data, "data", kFloats);
  const sparse::Duplicates duplicates = sum ? sparse::Duplicates::Sum : sparse::Duplicates::Error;
  return with_scalar(v.dtype, [&](auto t) {
    using T = decltype(t);
    std::optional<Csr<T>> made;
    const auto adopt = [&](auto offset) {
      using O = decltype(offset);
      const sparse::CsrView<T, std::int32_t, O> view{
          {rows, columns}, span_of<O>(p, "indptr"), span_of<std::int32_t>(i, "indices"), span_of<T>(v, "data")};
      call.run([&] { made.emplace(Csr<T>::adopt(call.executor(), view, duplicates)); });
    };
    if (p.dtype == DType::Int32) {
      adopt(std::int32_t{});
    } else {
      adopt(std::int64_t{});
    }
    return SparseMatrix{*made};
  });
}

// The same over the caller's arrays where they lie, for one call; None where they have to be copied: rows that are not
// sorted, columns that come twice. The offsets are always copied.
std::optional<SparseMatrix> borrowed(std::int64_t rows, std::int64_t columns, nb::handle indptr, nb::handle indices,
                                     nb::handle data) {
  Call call("sparse.csr", nb::cast(Executor::host()), {indptr, indices, data});
  const Operand p = call.in(indptr, "indptr", kIndices), i = call.in(indices, "indices", only(DType::Int32)),
                v = call.in(data, "data", kFloats);
  struct Kept {
    Operand indices, data;
  };
  const std::shared_ptr<const void> owner(new Kept{i, v}, [](const Kept* kept) {
    const nb::gil_scoped_acquire lock;
    delete kept;
  });
  return with_scalar(v.dtype, [&](auto t) -> std::optional<SparseMatrix> {
    using T = decltype(t);
    std::optional<Csr<T>> made;
    const auto borrow = [&](auto offset) {
      using O = decltype(offset);
      const sparse::CsrView<T, std::int32_t, O> view{
          {rows, columns}, span_of<O>(p, "indptr"), span_of<std::int32_t>(i, "indices"), span_of<T>(v, "data")};
      call.run([&] { made = Csr<T>::borrow(view, owner); });
    };
    if (p.dtype == DType::Int32) {
      borrow(std::int32_t{});
    } else {
      borrow(std::int64_t{});
    }
    if (!made) return std::nullopt;
    return SparseMatrix{*std::move(made)};
  });
}

SparseMatrix from_coo(std::int64_t rows, std::int64_t columns, nb::handle row, nb::handle column, nb::handle data,
                      bool sum) {
  Call call("sparse.coo", nb::cast(Executor::host()), {row, column, data});
  const Operand r = call.in(row, "row", only(DType::Int64)), c = call.in(column, "col", only(DType::Int64)),
                v = call.in(data, "data", kFloats);
  return with_scalar(v.dtype, [&](auto t) {
    using T = decltype(t);
    const sparse::Triplets<T> entries{span_of<std::int64_t>(r, "row"), span_of<std::int64_t>(c, "col"),
                                      span_of<T>(v, "data")};
    std::optional<Csr<T>> made;
    call.run([&] {
      made.emplace(Csr<T>::from_triplets(call.executor(), {rows, columns}, entries,
                                         sum ? sparse::Duplicates::Sum : sparse::Duplicates::Error));
    });
    return SparseMatrix{*made};
  });
}

SparseMatrix from_dense(nb::handle a, double threshold) {
  Call call("sparse.from_dense", nb::cast(Executor::host()), {a});
  const Operand o = call.in(a, "a", kFloats, 2);
  return with_scalar(o.dtype, [&](auto t) {
    using T = decltype(t);
    std::optional<Csr<T>> made;
    call.run([&] { made.emplace(sparse::from_dense<T>(o.matrix<const T>(), static_cast<Real<T>>(threshold))); });
    return SparseMatrix{*made};
  });
}

// An array over the memory of a matrix, which a capsule keeps alive.
template <class T> nb::object array_of(const SparseMatrix& owner, const VectorView<const T>& v) {
  auto* const keep = new SparseMatrix(owner);
  nb::capsule capsule(keep, [](void* p) noexcept { delete static_cast<SparseMatrix*>(p); });
  return array_over(dtype_of<std::remove_const_t<T>>, {v.size()}, const_cast<std::remove_const_t<T>*>(v.data()),
                    std::move(capsule));
}

// result = f(Csr), without Python's lock.
template <class F> SparseMatrix mapped(const SparseMatrix& a, F&& f) {
  return std::visit(
      [&](const auto& csr) {
        const nb::gil_scoped_release released;
        return SparseMatrix{f(csr)};
      },
      a.held);
}

template <class F> SparseMatrix joined(const SparseMatrix& a, nb::handle b, F&& f) {
  return std::visit(
      [&](const auto& csr) {
        const auto& other = csr_of<ValueOf<decltype(csr)>>(b, "the second matrix");
        const nb::gil_scoped_release released;
        return SparseMatrix{f(csr, other)};
      },
      a.held);
}

template <class T> T scalar_of(std::complex<double> value) {
  if constexpr (ComplexScalar<T>) {
    return T(static_cast<Real<T>>(value.real()), static_cast<Real<T>>(value.imag()));
  } else {
    require(value.imag() == 0, "sparse: a complex factor for a real matrix; convert the matrix");
    return static_cast<T>(value.real());
  }
}

SparseMatrix stacked(const std::vector<nb::object>& parts, bool beside) {
  require(!parts.empty(), "sparse.stack: give at least one matrix");
  return std::visit(
      [&](const auto& first) {
        using T = ValueOf<decltype(first)>;
        std::vector<Csr<T>> all;
        for (const nb::object& part : parts) all.push_back(csr_of<T>(part, "a part"));
        const std::span<const Csr<T>> span(all);
        return SparseMatrix{beside ? sparse::stack_columns(span) : sparse::stack_rows(span)};
      },
      sparse_matrix(parts[0], "a part").held);
}

nb::object to_dense(const SparseMatrix& a) {
  return std::visit(
      [](const auto& csr) {
        using T = ValueOf<decltype(csr)>;
        Call call("sparse.to_dense", nb::cast(Executor::host()), {});
        const Operand out = call.out(dtype_of<T>, {csr.rows(), csr.columns()});
        call.run([&] {
          const Matrix<T> dense = sparse::to_dense(csr);
          std::copy_n(dense.data(), csr.rows() * csr.columns(), out.pointer<T>());
        });
        return call.result(out);
      },
      a.held);
}

nb::object diagonal(const SparseMatrix& a) {
  return std::visit(
      [](const auto& csr) {
        using T = ValueOf<decltype(csr)>;
        const std::vector<T> d = sparse::diagonal(csr);
        const nb::object out = new_array(dtype_of<T>, {static_cast<std::int64_t>(d.size())});
        std::copy(d.begin(), d.end(), static_cast<T*>(data_of(out)));
        return out;
      },
      a.held);
}

nb::dict structure(const SparseMatrix& a) {
  const sparse::Structure s = std::visit([](const auto& csr) { return sparse::structure(csr); }, a.held);
  nb::dict d;
  d["pattern_symmetric"] = s.pattern_symmetric;
  d["symmetric"] = s.symmetric;
  d["hermitian"] = s.hermitian;
  d["skew"] = s.skew;
  d["lower_bandwidth"] = s.lower_bandwidth;
  d["upper_bandwidth"] = s.upper_bandwidth;
  d["empty_rows"] = s.empty_rows;
  d["empty_columns"] = s.empty_columns;
  d["longest_row"] = s.longest_row;
  d["missing_diagonal"] = s.missing_diagonal;
  return d;
}

std::complex<double> complex_of(nb::handle x) {
  const Py_complex c = PyComplex_AsCComplex(x.ptr());
  if (c.real == -1 && PyErr_Occurred()) throw nb::python_error();
  return {c.real, c.imag};
}

}  // namespace

void bind_sparse_matrix(nb::module_& m) {
  nb::class_<SparseMatrix>(m, "Csr")
      .def_prop_ro("shape",
                   [](const SparseMatrix& a) {
                     return std::visit([](const auto& c) { return nb::make_tuple(c.rows(), c.columns()); }, a.held);
                   })
      .def_prop_ro("nnz",
                   [](const SparseMatrix& a) { return std::visit([](const auto& c) { return c.nnz(); }, a.held); })
      .def("indptr",
           [](const SparseMatrix& a) {
             return std::visit([&](const auto& c) { return array_of(a, c.pattern().offsets()); }, a.held);
           })
      .def("indices",
           [](const SparseMatrix& a) {
             return std::visit([&](const auto& c) { return array_of(a, c.pattern().indices()); }, a.held);
           })
      .def("data", [](const SparseMatrix& a) {
        return std::visit([&](const auto& c) { return array_of(a, c.values()); }, a.held);
      });
  m.def("csr", &from_csr);
  m.def("csr_borrowed", &borrowed);
  m.def("csr_from_coo", &from_coo);
  m.def("csr_from_dense", &from_dense);
  m.def("csr_to_dense", &to_dense);
  m.def("csr_diagonal", &diagonal);
  m.def("csr_structure", &structure);
  m.def("csr_stack", &stacked);
  m.def("csr_transpose", [](const SparseMatrix& a, bool conjugate) {
    return mapped(a, [&](const auto& c) { return conjugate ? sparse::adjoint(c) : sparse::transpose(c); });
  });
  m.def("csr_add", [](nb::handle alpha, const SparseMatrix& a, nb::handle beta, nb::handle b) {
    const std::complex<double> x = complex_of(alpha), y = complex_of(beta);
    return joined(a, b, [&]<class T>(const Csr<T>& c, const Csr<T>& d) {
      return sparse::add(scalar_of<T>(x), c, scalar_of<T>(y), d);
    });
  });
  m.def("csr_multiply", [](const SparseMatrix& a, nb::handle b) {
    return joined(a, b, [](const auto& c, const auto& d) { return sparse::multiply_elements(c, d); });
  });
  m.def("csr_scale", [](nb::handle alpha, const SparseMatrix& a) {
    const std::complex<double> x = complex_of(alpha);
    return mapped(a, [&]<class T>(const Csr<T>& c) { return sparse::scale(scalar_of<T>(x), c); });
  });
  m.def("csr_prune", [](const SparseMatrix& a, double threshold) {
    return mapped(a, [&]<class T>(const Csr<T>& c) { return sparse::prune(c, static_cast<Real<T>>(threshold)); });
  });
  m.def("csr_triangle", [](const SparseMatrix& a, bool upper, std::int64_t k) {
    return mapped(
        a, [&](const auto& c) { return sparse::triangle(c, upper ? sparse::Uplo::Upper : sparse::Uplo::Lower, k); });
  });
  m.def("csr_slice",
        [](const SparseMatrix& a, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
          return mapped(a, [&](const auto& c) { return sparse::slice(c, row, rows, column, columns); });
        });
  m.def("csr_take_rows", [](const SparseMatrix& a, const std::vector<std::int64_t>& order) {
    return mapped(a, [&](const auto& c) { return sparse::take_rows(c, std::span(order)); });
  });
  m.def("csr_permute",
        [](const SparseMatrix& a, const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& columns) {
          return mapped(a, [&](const auto& c) { return sparse::permute(c, std::span(rows), std::span(columns)); });
        });
}

}  // namespace trn::python
