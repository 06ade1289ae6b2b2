// Formats are read and written: see operands.hpp.
#include "operands.hpp"

#include <algorithm>
#include <numeric>

#include <trn/sparse/convert.hpp>

namespace trn::capi::sparse {

Op op_of(trnsparseOperation_t op) {
  require(op >= TRNSPARSE_OPERATION_NON_TRANSPOSE && op <= TRNSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
          "the operation is {}; it must be 0, 1 or 2", static_cast<int>(op));
  return static_cast<Op>(op);
}
static_assert(static_cast<int>(Op::N) == 0 && static_cast<int>(Op::T) == 1 && static_cast<int>(Op::C) == 2);

void host_only(const Call& c, const char* what) {
  if (c.executor.family() == Family::Device)
    fail<NotImplemented>("{} runs on the host only, and the handle is for '{}'", what, c.executor.name());
}

std::vector<Int> integers(Call& c, const char* what, const void* from, trnsparseIndexType_t type, Int count, Int base) {
  std::vector<Int> found;
  if (type == TRNSPARSE_INDEX_64I) {
    found = fetch<Int>(c, what, from, count);
  } else {
    const auto narrow = fetch<std::int32_t>(c, what, from, count);
    found.assign(narrow.begin(), narrow.end());
  }
  for (Int& x : found) x -= base;
  return found;
}
void put_integers(Call& c, const char* what, void* to, trnsparseIndexType_t type, const std::vector<Int>& values,
                  Int base) {
  if (type == TRNSPARSE_INDEX_64I) {
    auto wide = values;
    for (Int& x : wide) x += base;
    return store(c, what, to, wide);
  }
  std::vector<std::int32_t> narrow;
  for (const Int x : values) {
    require(x + base <= INT32_MAX, "{} needs {}, which is beyond 32 bits", what, x + base);
    narrow.push_back(static_cast<std::int32_t>(x + base));
  }
  store(c, what, to, narrow);
}

Int stored_values(const SpMat& m) {
  switch (m.format) {
    case TRNSPARSE_FORMAT_BSR:
      return m.nnz * m.block_rows * m.block_columns;
    case TRNSPARSE_FORMAT_SLICED_ELLPACK:
      return m.width;
    default:
      return m.nnz;
  }
}

Entries sorted(Int rows, Int columns, const std::vector<Int>& row, const std::vector<Int>& column,
               std::vector<Int> places) {
  if (rows > INT32_MAX || columns > INT32_MAX)
    fail<NotImplemented>("a matrix of {} x {}; extents of 31 bits are there", rows, columns);
  const std::size_t n = std::min(row.size(), column.size());
  if (places.empty()) places.resize(n), std::iota(places.begin(), places.end(), Int{0});
  for (std::size_t k = 0; k < n; ++k)
    require(row[k] >= 0 && row[k] < rows && column[k] >= 0 && column[k] < columns,
            "entry {} is at ({}, {}), outside a matrix of {} x {} (counted from 0)", k, row[k], column[k], rows,
            columns);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    return row[a] != row[b] ? row[a] < row[b] : column[a] < column[b];
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::stable_sort(order.begin(), order.end(), before);
  Entries e{rows, columns, std::vector<Int>(static_cast<std::size_t>(rows) + 1), {}, {}};
  e.indices.reserve(n), e.places.reserve(n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t at = order[k];
    if (k > 0 && !before(order[k - 1], at))
      fail<NotImplemented>("the entry at ({}, {}) comes twice", row[at], column[at]);
    ++e.offsets[static_cast<std::size_t>(row[at]) + 1];
    e.indices.push_back(static_cast<std::int32_t>(column[at]));
    e.places.push_back(places[at]);
  }
  std::partial_sum(e.offsets.begin(), e.offsets.end(), e.offsets.begin());
  return e;
}

std::vector<Int> expand(const std::vector<Int>& offsets, Int count) {
  // Fewer entries than memory is legal: the offsets count.
  require(offsets.empty() || (offsets.front() == 0 && offsets.back() <= count),
          "the offsets run from {} to {} (counted from 0); they must begin with 0 and end at {} or before",
          offsets.empty() ? 0 : offsets.front(), offsets.empty() ? 0 : offsets.back(), count);
  // All of them first: what falls later may have risen to anything.
  const auto fall = std::is_sorted_until(offsets.begin(), offsets.end());
  require(fall == offsets.end(), "the offsets fall at line {}", fall - offsets.begin() - 1);
  std::vector<Int> line;
  line.reserve(static_cast<std::size_t>(offsets.empty() ? 0 : offsets.back()));
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
    line.insert(line.end(), static_cast<std::size_t>(offsets[i + 1] - offsets[i]), static_cast<Int>(i));
  return line;
}

Entries entries_of(Call& c, const SpMat& m, Int batch) {
  const auto offset_list = [&](Int lines, Int base) {
    const Int size = m.offset_type == TRNSPARSE_INDEX_64I ? 8 : 4;
    return integers(c, "the offsets", static_cast<const std::byte*>(m.offsets) + batch * m.offset_stride * size,
                    m.offset_type, lines, base);
  };
  const auto index_list = [&](Int count) {
    const Int size = m.index_type == TRNSPARSE_INDEX_64I ? 8 : 4;
    return integers(c, "the indices", static_cast<const std::byte*>(m.indices) + batch * m.index_stride * size,
                    m.index_type, count, m.base);
  };
  std::vector<Int> row, column, places;
  const auto add = [&](Int i, Int j, Int at) { row.push_back(i), column.push_back(j), places.push_back(at); };
  switch (m.format) {
    case TRNSPARSE_FORMAT_COO:
      return sorted(m.rows, m.columns, offset_list(m.nnz, m.base), index_list(m.nnz), {});
    case TRNSPARSE_FORMAT_CSR:
      return sorted(m.rows, m.columns, expand(offset_list(m.rows + 1, m.base), m.nnz), index_list(m.nnz), {});
    case TRNSPARSE_FORMAT_CSC:
      return sorted(m.rows, m.columns, index_list(m.nnz), expand(offset_list(m.columns + 1, m.base), m.nnz), {});
    case TRNSPARSE_FORMAT_BSR: {
      const Int r = m.block_rows, w = m.block_columns;
      const auto line = expand(offset_list(m.rows / r + 1, m.base), m.nnz), block = index_list(m.nnz);
      for (std::size_t k = 0; k < line.size(); ++k)
        for (Int i = 0; i < r; ++i)
          for (Int j = 0; j < w; ++j)
            add(line[k] * r + i, block[k] * w + j,
                static_cast<Int>(k) * r * w + (m.order == TRNSPARSE_ORDER_ROW ? i * w + j : j * r + i));
      break;
    }
    case TRNSPARSE_FORMAT_BLOCKED_ELL: {
      const Int b = m.block_rows, in_row = m.width / b;
      const auto block = index_list(m.rows / b * in_row);
      for (std::size_t k = 0; k < block.size(); ++k) {
        const Int i0 = static_cast<Int>(k) / in_row * b, at = static_cast<Int>(k) % in_row * b;
        if (block[k] < 0) continue;  // padding
        for (Int i = 0; i < b; ++i)
          for (Int j = 0; j < b; ++j) add(i0 + i, block[k] * b + j, (i0 + i) * m.width + at + j);
      }
      break;
    }
    case TRNSPARSE_FORMAT_SLICED_ELLPACK: {
      const Int slices = (m.rows + m.block_rows - 1) / m.block_rows;
      const auto begin = offset_list(slices + 1, m.base), index = index_list(m.width);
      (void)expand(begin, m.width);
      for (Int s = 0; s < slices; ++s)
        for (Int at = begin[static_cast<std::size_t>(s)]; at < begin[static_cast<std::size_t>(s) + 1]; ++at)
          if (const Int j = index[static_cast<std::size_t>(at)]; j >= 0)
            add(s * m.block_rows + (at - begin[static_cast<std::size_t>(s)]) % m.block_rows, j, at);
      break;
    }
    default:
      fail<InvalidArgument>("format {} is not known", static_cast<int>(m.format));
  }
  return sorted(m.rows, m.columns, row, column, std::move(places));
}

void put_pattern(Call& c, const SpMat& m, const ts::Pattern<>& pattern) {
  const auto offsets = pattern.offsets();
  const auto indices = pattern.indices();
  std::vector<Int> lines(offsets.data(), offsets.data() + offsets.size());
  if (m.format == TRNSPARSE_FORMAT_COO) {
    lines = expand(lines, pattern.nnz());
  } else if (m.format != TRNSPARSE_FORMAT_CSR && m.format != TRNSPARSE_FORMAT_CSC) {
    fail<NotImplemented>("a result in format {}; there are CSR, CSC and COO", static_cast<int>(m.format));
  }
  put_integers(c, "the offsets", m.offsets, m.offset_type, lines, m.base);
  put_integers(c, "the indices", m.indices, m.index_type, {indices.data(), indices.data() + pattern.nnz()}, m.base);
}

template <class T> void put_csr(Call& c, const SpMat& m, const ts::Csr<T>& from) {
  const ts::Csr<T> lines = m.format == TRNSPARSE_FORMAT_CSC ? ts::convert<ts::Csc<T>>(from).transposed() : from;
  put_pattern(c, m, lines.pattern());
  const auto values = lines.values();
  store(c, "the values", m.values, std::vector<T>(values.data(), values.data() + lines.nnz()));
}
template void put_csr(Call&, const SpMat&, const ts::Csr<float>&);
template void put_csr(Call&, const SpMat&, const ts::Csr<double>&);
template void put_csr(Call&, const SpMat&, const ts::Csr<std::complex<float>>&);
template void put_csr(Call&, const SpMat&, const ts::Csr<std::complex<double>>&);

}  // namespace trn::capi::sparse
