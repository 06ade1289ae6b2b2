// Orderings and colourings, screening of integrals, block-sparse attention, matrices from and to files, model problems.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <trn/sparse/attention.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/harwell_boeing.hpp>
#include <trn/sparse/matrix_market.hpp>
#include <trn/sparse/npz.hpp>
#include <trn/sparse/ordering.hpp>
#include <trn/sparse/screening.hpp>

#include "bindings.hpp"
#include "operators.hpp"

namespace trn::python {
namespace {

const sparse::Pattern<>& pattern_of(const SparseMatrix& a) {
  return std::visit([](const auto& c) -> const sparse::Pattern<>& { return c.pattern(); }, a.held);
}

std::vector<std::int64_t> ordering(const SparseMatrix& a, const std::string& kind, std::int64_t size) {
  const sparse::Pattern<>& p = pattern_of(a);
  const nb::gil_scoped_release released;
  if (kind == "reverse_cuthill_mckee") return sparse::reverse_cuthill_mckee(p);
  if (kind == "minimum_degree") return sparse::minimum_degree(p);
  if (kind == "nested_dissection") return sparse::nested_dissection(p);
  return sparse::partition(p, size);
}

struct MaskValue {
  sparse::AttentionMask mask;
};

// (o, log_sums): q (heads, queries, d), k and v (kv_heads, keys, d or dv).
struct Attention {
  Operand q, k, v;
  sparse::AttentionOptions options;
};
Attention attention(Call& call, nb::handle q, nb::handle k, nb::handle v, double scale, nb::handle precision) {
  Attention a{call.in(q, "q", kReals, 3), {}, {}, {}};
  a.k = call.in(k, "k", only(a.q.dtype), 3);
  a.v = call.in(v, "v", only(a.q.dtype), 3);
  a.options = {a.q.shape[0], a.k.shape[0], a.q.shape[2], a.v.shape[2], scale, precision_of(precision)};
  require(a.k.shape[2] == a.q.shape[2] && a.v.shape[0] == a.k.shape[0] && a.v.shape[1] == a.k.shape[1],
          "sparse.attention: q {}, k {} and v {} do not fit together", to_string(a.q.shape), to_string(a.k.shape),
          to_string(a.v.shape));
  return a;
}
void check_mask(const MaskValue& m, const Attention& a) {
  require(a.q.shape[1] == m.mask.queries() && a.k.shape[1] == m.mask.keys(),
          "sparse.attention: the mask is for {} queries and {} keys; q has {} and k {}", m.mask.queries(),
          m.mask.keys(), a.q.shape[1], a.k.shape[1]);
}

nb::object attention_forward(const MaskValue& m, nb::handle q, nb::handle k, nb::handle v, double scale,
                             nb::handle precision, nb::handle executor) {
  Call call("sparse.attention", executor, {q, k, v});
  const Attention a = attention(call, q, k, v, scale, precision);
  check_mask(m, a);
  const Operand o = call.out(a.q.dtype, {a.q.shape[0], a.q.shape[1], a.v.shape[2]});
  const Operand sums = call.out(a.q.dtype, {a.q.shape[0], a.q.shape[1]});
  Accuracy accuracy;
  with_real(a.q.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      accuracy =
          sparse::AttentionPlan<T>(call.executor(), m.mask, a.options)
              .forward(a.q.view<const T>(), a.k.view<const T>(), a.v.view<const T>(), o.view<T>(), sums.view<T>());
    });
  });
  return nb::make_tuple(call.result(o), call.result(sums), accuracy);
}

nb::object attention_backward(const MaskValue& m, nb::handle q, nb::handle k, nb::handle v, nb::handle o,
                              nb::handle sums, nb::handle d_o, double scale, nb::handle precision,
                              nb::handle executor) {
  Call call("sparse.attention_backward", executor, {q, k, v, o, sums, d_o});
  const Attention a = attention(call, q, k, v, scale, precision);
  check_mask(m, a);
  const Types type = only(a.q.dtype);
  const Operand out = call.in(o, "o", type, 3), logs = call.in(sums, "log_sums", type, 2),
                gradient = call.in(d_o, "d_o", type, 3);
  const Operand dq = call.out(a.q.dtype, a.q.shape), dk = call.out(a.q.dtype, a.k.shape),
                dv = call.out(a.q.dtype, a.v.shape);
  Accuracy accuracy;
  with_real(a.q.dtype, [&](auto t) {
    using T = decltype(t);
    call.run([&] {
      accuracy =
          sparse::AttentionPlan<T>(call.executor(), m.mask, a.options)
              .backward(a.q.view<const T>(), a.k.view<const T>(), a.v.view<const T>(), out.view<const T>(),
                        logs.view<const T>(), gradient.view<const T>(), dq.view<T>(), dk.view<T>(), dv.view<T>());
    });
  });
  return nb::make_tuple(call.result(dq), call.result(dk), call.result(dv), accuracy);
}

SparseMatrix read(const std::string& path, const std::string& format, bool complex) {
  const nb::gil_scoped_release released;
  if (format == "npz") {
    if (complex) return {sparse::read_npz<std::complex<double>>(path)};
    return {sparse::read_npz<double>(path)};
  }
  if (format == "mtx") {
    if (complex) return {sparse::read_matrix_market<std::complex<double>>(path)};
    return {sparse::read_matrix_market<double>(path)};
  }
  if (complex) return {sparse::read_harwell_boeing<std::complex<double>>(path)};
  return {sparse::read_harwell_boeing<double>(path)};
}

void write(const std::string& path, const std::string& format, const SparseMatrix& a, const std::string& text,
           bool compressed) {
  const nb::gil_scoped_release released;
  std::visit(
      [&](const auto& c) {
        if (format == "npz") {
          sparse::write_npz(path, c, compressed ? sparse::Compression::Deflated : sparse::Compression::Stored);
        } else if (format == "mtx") {
          sparse::write_matrix_market(path, c, {.comment = text});
        } else {
          sparse::write_rutherford_boeing(path, c, text);
        }
      },
      a.held);
}

nb::object quartets(const std::vector<double>& bra, const std::vector<double>& ket, double threshold) {
  const sparse::Quartets q(bra, ket, threshold);
  std::vector<std::int64_t> counts(bra.size());
  for (std::size_t p = 0; p < bra.size(); ++p) counts[p] = q.count(static_cast<std::int64_t>(p));
  return nb::make_tuple(counts, std::vector<std::int64_t>(q.kets().begin(), q.kets().end()), q.kept());
}

}  // namespace

void bind_sparse_more(nb::module_& m) {
  m.def("ordering", &ordering);
  m.def("colouring", [](const SparseMatrix& a) { return sparse::colouring(pattern_of(a)).colour; });
  m.def("cholesky_entries", [](const SparseMatrix& a, const std::vector<std::int64_t>& order) {
    return sparse::cholesky_entries(pattern_of(a), order);
  });
  m.def("block_fill", [](const SparseMatrix& a, std::int64_t block, const std::vector<std::int64_t>& order) {
    const sparse::BlockFill f = sparse::block_fill(pattern_of(a), block, order);
    return nb::make_tuple(f.blocks, f.fill);
  });
  m.def("quartets", &quartets);
  m.def("screened", [](const SparseMatrix& a, const std::vector<double>& q, double threshold) {
    return std::visit([&](const auto& c) { return SparseMatrix{sparse::screened(c, std::span(q), threshold)}; },
                      a.held);
  });

  nb::class_<MaskValue>(m, "AttentionMask")
      .def_prop_ro("queries", [](const MaskValue& v) { return v.mask.queries(); })
      .def_prop_ro("keys", [](const MaskValue& v) { return v.mask.keys(); })
      .def_prop_ro("pairs", [](const MaskValue& v) { return v.mask.pairs(); })
      .def_prop_ro("blocks", [](const MaskValue& v) { return v.mask.blocks().size(); });
  m.def("attention_mask", [](const SparseMatrix& a) { return MaskValue{sparse::AttentionMask(pattern_of(a))}; });
  m.def("attention_mask_causal", [](std::int64_t queries, std::int64_t keys) {
    return MaskValue{sparse::AttentionMask::causal(queries, keys)};
  });
  m.def("attention_mask_full",
        [](std::int64_t queries, std::int64_t keys) { return MaskValue{sparse::AttentionMask::full(queries, keys)}; });
  m.def("attention_mask_blocks",
        [](std::int64_t queries, std::int64_t keys, std::int64_t block, const SparseMatrix& blocks) {
          return MaskValue{sparse::AttentionMask::from_blocks(queries, keys, block, pattern_of(blocks))};
        });
  m.def("attention", &attention_forward, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
        nb::arg().none());
  m.def("attention_backward", &attention_backward, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none());

  m.def("read_sparse", &read);
  m.def("write_sparse", &write);
  m.def("matrix_market_is_complex", [](const std::string& path) {
    return sparse::read_matrix_market_header(path).field == sparse::MatrixMarketField::Complex;
  });
  m.def("poisson", [](std::int64_t nx, std::int64_t ny, std::int64_t nz) {
    return SparseMatrix{sparse::poisson<double>(nx, ny, nz)};
  });
  m.def("elasticity", [](std::int64_t nx, std::int64_t ny, double ratio) {
    return SparseMatrix{sparse::elasticity<double>(nx, ny, ratio)};
  });
}

}  // namespace trn::python
