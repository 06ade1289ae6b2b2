// Every format to Csr, and Csr to every format.
#include <trn/sparse/convert.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gather_entries.hpp"
#include "pattern_checks.hpp"
#include "scalars.hpp"
#include "transpose.hpp"

namespace trn::sparse {

namespace {

std::int64_t blocks_of(std::int64_t extent, std::int64_t block) {
  return extent / block + (extent % block != 0 ? 1 : 0);
}

// What place(j) says of each entry of a row, collected as sorted distinct numbers.
template <class I> struct Marks {
  std::vector<std::int64_t> seen;
  std::vector<I> list;
  explicit Marks(std::int64_t size) : seen(static_cast<std::size_t>(size), -1) {}
  void start() { list.clear(); }
  void add(std::int64_t at, std::int64_t row) {
    if (seen[static_cast<std::size_t>(at)] == row) return;
    seen[static_cast<std::size_t>(at)] = row;
    list.push_back(static_cast<I>(at));
  }
};

template <Scalar T> T mirrored(T x, Symmetry symmetry) {
  return symmetry == Symmetry::Skew ? -x : symmetry == Symmetry::Hermitian ? conjugate_of(x) : x;
}

// Blocks of a row-compressed matrix: the pattern of blocks and the values of each, r x c row-major.
template <Scalar T, Index I> struct Blocks {
  Array<std::int64_t> offsets;
  std::vector<I> indices;
  std::vector<T> values;
};
template <Scalar T, Index I> Blocks<T, I> block_up(const CsrRef<T, I>& a, std::int64_t r, std::int64_t c) {
  const std::int64_t rows = blocks_of(a.rows, r), columns = blocks_of(a.columns, c);
  Blocks<T, I> b{host_array<std::int64_t>(rows + 1), {}, {}};
  Marks<I> marks(columns);
  std::vector<std::int64_t> place(static_cast<std::size_t>(columns));
  b.offsets.data()[0] = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    marks.start();
    const std::int64_t first = a.offsets[i * r], last = a.offsets[std::min(a.rows, (i + 1) * r)];
    for (std::int64_t k = first; k < last; ++k) marks.add(a.indices[k] / c, i);
    std::sort(marks.list.begin(), marks.list.end());
    for (const I j : marks.list) {
      place[static_cast<std::size_t>(j)] = static_cast<std::int64_t>(b.indices.size());
      b.indices.push_back(j);
    }
    b.values.resize(b.indices.size() * static_cast<std::size_t>(r * c));
    for (std::int64_t row = i * r; row < std::min(a.rows, (i + 1) * r); ++row) {
      for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
        const std::int64_t j = a.indices[k];
        b.values[static_cast<std::size_t>(place[static_cast<std::size_t>(j / c)] * r * c + (row - i * r) * c + j % c)] =
            a.values[k];
      }
    }
    b.offsets.data()[i + 1] = static_cast<std::int64_t>(b.indices.size());
  }
  return b;
}

// Rows of blocks back to rows of entries; block(i, k) is the number of the k-th block's column, or -1 for none.
template <Scalar T, Index I, class Count, class Column> Csr<T, I> unblock(Extents e, std::int64_t r, std::int64_t c,
                                                                          const T* values, const Count& range,
                                                                          const Column& column) {
  CsrParts<T, I> parts(e);
  for (std::int64_t i = 0; i < e.rows; ++i) {
    const auto [begin, end] = range(i / r);
    std::int64_t count = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      if (column(k) >= 0) count += std::min(c, e.columns - column(k) * c);
    }
    parts.offsets.data()[i] = count;
  }
  parts.allocate();
  for (std::int64_t i = 0; i < e.rows; ++i) {
    const auto [begin, end] = range(i / r);
    std::int64_t to = parts.offsets.data()[i];
    for (std::int64_t k = begin; k < end; ++k) {
      if (column(k) < 0) continue;
      const std::int64_t first = column(k) * c, width = std::min(c, e.columns - first);
      for (std::int64_t j = 0; j < width; ++j, ++to) {
        parts.indices.data()[to] = static_cast<I>(first + j);
        parts.values.data()[to] = values[(k * r + i % r) * c + j];
      }
    }
  }
  return parts.done();
}

}  // namespace

template <Scalar T, Index I> Csr<T, I> to_csr(const Csc<T, I>& a) {
  host_only("sparse.to_csr", a.executor());
  return transposed(a.transposed(), [](T x) { return x; });
}

template <Scalar T, Index I> Csr<T, I> to_csr(const Coo<T, I>& a) {
  host_only("sparse.to_csr", a.executor());
  CsrParts<T, I> parts(a.extents());
  std::int64_t* offsets = parts.offsets.data();
  std::fill(offsets, offsets + a.rows() + 1, 0);
  for (std::int64_t k = 0; k < a.nnz(); ++k) ++offsets[a.row_indices().data()[k]];
  parts.allocate();
  std::copy_n(a.column_indices().data(), a.nnz(), parts.indices.data());
  std::copy_n(a.values().data(), a.nnz(), parts.values.data());
  return parts.done();
}

template <Scalar T, Index I> Csr<T, I> to_csr(const Bsr<T, I>& a) {
  host_only("sparse.to_csr", a.executor());
  const PatternRef<I> p = host_ref(a.pattern());
  return unblock<T, I>(
      a.extents(), a.block_rows(), a.block_columns(), a.values().data(),
      [&](std::int64_t i) { return std::pair(p.offsets[i], p.offsets[i + 1]); },
      [&](std::int64_t k) { return std::int64_t{p.indices[k]}; });
}

template <Scalar T, Index I> Csr<T, I> to_csr(const BlockedEll<T, I>& a) {
  host_only("sparse.to_csr", a.executor());
  const I* indices = a.indices().data();
  return unblock<T, I>(
      a.extents(), a.block(), a.block(), a.values().data(),
      [&](std::int64_t i) { return std::pair(i * a.width(), (i + 1) * a.width()); },
      [&](std::int64_t k) { return std::int64_t{indices[k]}; });
}

template <Scalar T, Index I> Csr<T, I> to_csr(const Sell<T, I>& a) {
  host_only("sparse.to_csr", a.executor());
  CsrParts<T, I> parts(a.extents());
  const std::int64_t* slices = a.slice_offsets().data();
  const I* indices = a.indices().data();
  const std::int64_t h = a.height();
  const auto each = [&](std::int64_t place, const auto& entry) {
    for (std::int64_t k = slices[place / h] + place % h; k < slices[place / h + 1]; k += h) {
      if (indices[k] >= 0) entry(k);
    }
  };
  for (std::int64_t place = 0; place < a.rows(); ++place) {
    std::int64_t count = 0;
    each(place, [&](std::int64_t) { ++count; });
    parts.offsets.data()[a.order().data()[place]] = count;
  }
  parts.allocate();
  for (std::int64_t place = 0; place < a.rows(); ++place) {
    std::int64_t to = parts.offsets.data()[a.order().data()[place]];
    each(place, [&](std::int64_t k) {
      parts.indices.data()[to] = indices[k];
      parts.values.data()[to++] = a.values().data()[k];
    });
  }
  return parts.done();
}

template <Scalar T, Index I> Csr<T, I> to_csr(const Triangle<T, I>& a) {
  host_only("sparse.to_csr", a.executor());
  const CsrRef<T, I> s = host_ref(a.stored());
  CsrParts<T, I> parts(a.extents());
  std::int64_t* offsets = parts.offsets.data();
  std::fill(offsets, offsets + s.rows + 1, 0);
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k) {
      ++offsets[i];
      if (s.indices[k] != i) ++offsets[s.indices[k]];
    }
  }
  parts.allocate();
  std::vector<std::int64_t> next(offsets, offsets + s.rows);
  const auto put = [&](std::int64_t i, std::int64_t j, T value) {
    const std::int64_t at = next[static_cast<std::size_t>(i)]++;
    parts.indices.data()[at] = static_cast<I>(j);
    parts.values.data()[at] = value;
  };
  // Row after row. Lower: when row i comes, its mirrored entries (columns beyond i) are still to come: own entries
  // first. Upper: the mirrored ones (columns before i) came with earlier rows.
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k) {
      put(i, s.indices[k], s.values[k]);
      if (s.indices[k] != i) put(s.indices[k], i, mirrored(s.values[k], a.symmetry()));
    }
  }
  return parts.done();
}

template <Scalar T> Csr<T> to_csr(const Dia<T>& a) {
  host_only("sparse.to_csr", a.executor());
  check_extents<std::int32_t>("sparse.to_csr", a.extents());
  CsrParts<T, std::int32_t> parts(a.extents());
  const auto inside = [&](std::int64_t i, std::int64_t d) { return i + d >= 0 && i + d < a.columns(); };
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    parts.offsets.data()[i] =
        std::count_if(a.offsets().begin(), a.offsets().end(), [&](std::int64_t d) { return inside(i, d); });
  }
  parts.allocate();
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    std::int64_t to = parts.offsets.data()[i];
    for (std::size_t k = 0; k < a.offsets().size(); ++k) {
      if (!inside(i, a.offsets()[k])) continue;
      parts.indices.data()[to] = static_cast<std::int32_t>(i + a.offsets()[k]);
      parts.values.data()[to++] = a.values().data()[static_cast<std::int64_t>(k) * a.rows() + i];
    }
  }
  return parts.done();
}

namespace detail {

template <Scalar T, Index I> Csc<T, I> FromCsr<Csc<T, I>>::make(const Csr<T, I>& a, const ConvertOptions&) {
  host_only("sparse.convert", a.executor());
  return Csc<T, I>(transposed(a, [](T x) { return x; }));
}

template <Scalar T, Index I> Coo<T, I> FromCsr<Coo<T, I>>::make(const Csr<T, I>& a, const ConvertOptions&) {
  host_only("sparse.convert", a.executor());
  const CsrRef<T, I> s = host_ref(a);
  Array<I> rows = host_array<I>(a.nnz());
  for (std::int64_t i = 0; i < s.rows; ++i)
    std::fill(rows.data() + s.offsets[i], rows.data() + s.offsets[i + 1], static_cast<I>(i));
  const auto nnz = static_cast<std::size_t>(a.nnz());
  return Coo<T, I>(Trusted{}, a.extents(), std::move(rows), host_array(std::span<const I>(s.indices, nnz)),
                   host_array(std::span<const T>(s.values, nnz)));
}

template <Scalar T, Index I> Bsr<T, I> FromCsr<Bsr<T, I>>::make(const Csr<T, I>& a, const ConvertOptions& o) {
  constexpr const char* operation = "sparse.convert to bsr";
  host_only(operation, a.executor());
  require(o.block_rows >= 1 && o.block_rows <= 32768 && o.block_columns >= 1 && o.block_columns <= 32768,
          "{}: blocks of {} x {}; both from 1 to 32768", operation, o.block_rows, o.block_columns);
  Blocks<T, I> b = block_up(host_ref(a), o.block_rows, o.block_columns);
  Pattern<I> pattern(Trusted{}, {blocks_of(a.rows(), o.block_rows), blocks_of(a.columns(), o.block_columns)},
                     std::move(b.offsets), host_array(std::span<const I>(b.indices)));
  return Bsr<T, I>(Trusted{}, a.extents(), o.block_rows, o.block_columns, std::move(pattern),
                   host_array(std::span<const T>(b.values)));
}

template <Scalar T, Index I>
BlockedEll<T, I> FromCsr<BlockedEll<T, I>>::make(const Csr<T, I>& a, const ConvertOptions& o) {
  constexpr const char* operation = "sparse.convert to blocked ell";
  host_only(operation, a.executor());
  require(o.block >= 1 && o.block <= 32768, "{}: blocks of {}; from 1 to 32768", operation, o.block);
  const Blocks<T, I> b = block_up(host_ref(a), o.block, o.block);
  const std::int64_t rows = b.offsets.size() - 1, size = o.block * o.block;
  std::int64_t width = 0;
  for (std::int64_t i = 0; i < rows; ++i) width = std::max(width, b.offsets.data()[i + 1] - b.offsets.data()[i]);
  std::vector<I> indices(static_cast<std::size_t>(byte_count({rows, width}, 1)), I{-1});
  std::vector<T> values(static_cast<std::size_t>(byte_count({rows, width, o.block, o.block}, 1)));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t begin = b.offsets.data()[i], count = b.offsets.data()[i + 1] - begin;
    std::copy_n(b.indices.begin() + begin, count, indices.begin() + i * width);
    std::copy_n(b.values.begin() + begin * size, count * size, values.begin() + i * width * size);
  }
  return BlockedEll<T, I>(a.executor(), a.extents(), o.block, width, indices, values);
}

template <Scalar T, Index I> Sell<T, I> FromCsr<Sell<T, I>>::make(const Csr<T, I>& a, const ConvertOptions& o) {
  constexpr const char* operation = "sparse.convert to sell";
  host_only(operation, a.executor());
  require(o.height >= 1 && o.height <= 1024 && (o.sigma == 1 || (o.sigma >= 1 && o.sigma % o.height == 0)),
          "{}: slices of {} rows (1 to 1024), sorted over {} (a multiple of that, or 1)", operation, o.height, o.sigma);
  const CsrRef<T, I> s = host_ref(a);
  const std::int64_t h = o.height, slices = blocks_of(s.rows, h);
  Array<I> order = host_array<I>(s.rows);
  std::iota(order.data(), order.data() + s.rows, I{0});
  const auto length = [&](I i) { return s.offsets[i + 1] - s.offsets[i]; };
  for (std::int64_t begin = 0; o.sigma > 1 && begin < s.rows; begin += o.sigma) {
    std::stable_sort(order.data() + begin, order.data() + std::min(s.rows, begin + o.sigma),
                     [&](I x, I y) { return length(x) > length(y); });
  }
  Array<std::int64_t> offsets = host_array<std::int64_t>(slices + 1);
  offsets.data()[0] = 0;
  for (std::int64_t k = 0; k < slices; ++k) {
    std::int64_t width = 0;
    for (std::int64_t p = k * h; p < std::min(s.rows, (k + 1) * h); ++p)
      width = std::max(width, length(order.data()[p]));
    offsets.data()[k + 1] = offsets.data()[k] + width * h;
  }
  Array<I> indices = host_array<I>(offsets.data()[slices]);
  Array<T> values = host_array<T>(offsets.data()[slices]);
  std::fill(indices.data(), indices.data() + indices.size(), I{-1});
  std::fill(values.data(), values.data() + values.size(), T(0));
  for (std::int64_t p = 0; p < s.rows; ++p) {
    const I row = order.data()[p];
    std::int64_t to = offsets.data()[p / h] + p % h;
    for (std::int64_t k = s.offsets[row]; k < s.offsets[row + 1]; ++k, to += h) {
      indices.data()[to] = s.indices[k];
      values.data()[to] = s.values[k];
    }
  }
  return Sell<T, I>(Trusted{}, a.extents(), h, a.nnz(), std::move(order), std::move(offsets), std::move(indices),
                    std::move(values));
}

template <Scalar T, Index I> Triangle<T, I> FromCsr<Triangle<T, I>>::make(const Csr<T, I>& a, const ConvertOptions& o) {
  constexpr const char* operation = "sparse.convert to triangle";
  host_only(operation, a.executor());
  check_square(operation, a.extents());
  const CsrRef<T, I> s = host_ref(a);
  const Csr<T, I> other = transposed(a, [&](T x) { return mirrored(x, o.symmetry); });
  const CsrRef<T, I> t = host_ref(other);
  CsrParts<T, I> parts(a.extents());
  for (std::int64_t i = 0; i < s.rows; ++i) {
    const std::int64_t begin = s.offsets[i], count = s.offsets[i + 1] - begin;
    const bool same = t.offsets[i] == begin && t.offsets[i + 1] == s.offsets[i + 1] &&
                      std::equal(s.indices + begin, s.indices + begin + count, t.indices + begin) &&
                      std::equal(s.values + begin, s.values + begin + count, t.values + begin);
    require(same, "{}: row {} is not the mirrored column {}, so that one triangle does not hold the matrix", operation,
            i, i);
    std::int64_t kept = 0;
    for (std::int64_t k = begin; k < begin + count; ++k)
      kept += o.uplo == Uplo::Lower ? s.indices[k] <= i : s.indices[k] >= i;
    parts.offsets.data()[i] = kept;
  }
  parts.allocate();
  for (std::int64_t i = 0; i < s.rows; ++i) {
    std::int64_t to = parts.offsets.data()[i];
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k) {
      if (o.uplo == Uplo::Lower ? s.indices[k] > i : s.indices[k] < i) continue;
      parts.indices.data()[to] = s.indices[k];
      parts.values.data()[to++] = s.values[k];
    }
  }
  return Triangle<T, I>(parts.done(), o.uplo, o.symmetry);
}

template <Scalar T> Dia<T> FromCsr<Dia<T>>::make(const Csr<T>& a, const ConvertOptions& o) {
  constexpr const char* operation = "sparse.convert to dia";
  host_only(operation, a.executor());
  const CsrRef<T, std::int32_t> s = host_ref(a);
  std::vector<std::int64_t> slot(static_cast<std::size_t>(s.rows + s.columns), -1), offsets;
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k) {
      auto& place = slot[static_cast<std::size_t>(s.indices[k] - i + s.rows)];
      if (place < 0) offsets.push_back(s.indices[k] - i);
      place = 0;
      require(static_cast<std::int64_t>(offsets.size()) <= o.most_diagonals,
              "{}: more than {} diagonals; raise ConvertOptions::most_diagonals, or keep another format", operation,
              o.most_diagonals);
    }
  }
  std::sort(offsets.begin(), offsets.end());
  for (std::size_t d = 0; d < offsets.size(); ++d)
    slot[static_cast<std::size_t>(offsets[d] + s.rows)] = static_cast<std::int64_t>(d);
  std::vector<T> values(static_cast<std::size_t>(byte_count({static_cast<std::int64_t>(offsets.size()), s.rows}, 1)));
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k)
      values[static_cast<std::size_t>(slot[static_cast<std::size_t>(s.indices[k] - i + s.rows)] * s.rows + i)] =
          s.values[k];
  }
  return Dia<T>(a.executor(), a.extents(), offsets, values);
}

}  // namespace detail

template <Index J, Scalar T, Index I> Csr<T, J> with_index(const Csr<T, I>& a) {
  host_only("sparse.with_index", a.executor());
  check_extents<J>("sparse.with_index", a.extents());
  const CsrRef<T, I> s = host_ref(a);
  const auto rows = static_cast<std::size_t>(s.rows), nnz = static_cast<std::size_t>(s.nnz());
  Array<J> indices = host_array<J>(s.nnz());
  std::copy_n(s.indices, nnz, indices.data());
  return Csr<T, J>(detail::Trusted{},
                   Pattern<J>(detail::Trusted{}, a.extents(),
                              host_array(std::span<const std::int64_t>(s.offsets, rows + 1)), std::move(indices)),
                   host_array(std::span<const T>(s.values, nnz)));
}

template <Scalar T, Index I>
Csr<T, I> from_dense(const MatrixView<const T>& a, std::type_identity_t<Real<T>> threshold) {
  constexpr const char* operation = "sparse.from_dense";
  host_only(operation, a.executor());
  require(!std::isnan(threshold), "{}: the threshold is NaN", operation);
  check_extents<I>(operation, {a.rows(), a.columns()});
  require(a.data() != nullptr || a.rows() == 0 || a.columns() == 0, "{}: the matrix has no address", operation);
  const auto element = [&](std::int64_t i, std::int64_t j) {
    return a.data()[i * a.row_stride() + j * a.column_stride()];
  };
  CsrParts<T, I> parts({a.rows(), a.columns()});
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    std::int64_t count = 0;
    for (std::int64_t j = 0; j < a.columns(); ++j) count += !(std::abs(element(i, j)) <= threshold);
    parts.offsets.data()[i] = count;
  }
  parts.allocate();
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    std::int64_t to = parts.offsets.data()[i];
    for (std::int64_t j = 0; j < a.columns(); ++j) {
      const T x = element(i, j);
      if (std::abs(x) <= threshold) continue;
      parts.indices.data()[to] = static_cast<I>(j);
      parts.values.data()[to++] = x;
    }
  }
  return parts.done();
}

template <Scalar T, Index I> Matrix<T> to_dense(const Csr<T, I>& a) {
  host_only("sparse.to_dense", a.executor());
  Matrix<T> dense(a.executor(), a.rows(), a.columns());
  std::fill(dense.data(), dense.data() + a.rows() * a.columns(), T(0));
  const CsrRef<T, I> s = host_ref(a);
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k)
      dense.data()[i * s.columns + s.indices[k]] = s.values[k];
  }
  return dense;
}

#define TRN_CONVERT(T, I)                                                                         \
  template Csr<T, I> to_csr(const Csc<T, I>&);                                                    \
  template Csr<T, I> to_csr(const Coo<T, I>&);                                                    \
  template Csr<T, I> to_csr(const Bsr<T, I>&);                                                    \
  template Csr<T, I> to_csr(const Sell<T, I>&);                                                   \
  template Csr<T, I> to_csr(const BlockedEll<T, I>&);                                             \
  template Csr<T, I> to_csr(const Triangle<T, I>&);                                               \
  template struct detail::FromCsr<Csc<T, I>>;                                                     \
  template struct detail::FromCsr<Coo<T, I>>;                                                     \
  template struct detail::FromCsr<Bsr<T, I>>;                                                     \
  template struct detail::FromCsr<Sell<T, I>>;                                                    \
  template struct detail::FromCsr<BlockedEll<T, I>>;                                              \
  template struct detail::FromCsr<Triangle<T, I>>;                                                \
  template Csr<T, std::int32_t> with_index<std::int32_t>(const Csr<T, I>&);                       \
  template Csr<T, std::int64_t> with_index<std::int64_t>(const Csr<T, I>&);                       \
  template Csr<T, I> from_dense<T, I>(const MatrixView<const T>&, std::type_identity_t<Real<T>>); \
  template Matrix<T> to_dense(const Csr<T, I>&);
TRN_SPARSE_INDEXED(TRN_CONVERT)
#undef TRN_CONVERT
#define TRN_CONVERT_DIA(T)               \
  template Csr<T> to_csr(const Dia<T>&); \
  template struct detail::FromCsr<Dia<T>>;
TRN_SPARSE_SCALARS(TRN_CONVERT_DIA)
#undef TRN_CONVERT_DIA

}  // namespace trn::sparse
