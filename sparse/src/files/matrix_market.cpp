// The reader and the writer of Matrix Market files.
#include <trn/sparse/matrix_market.hpp>

#include <algorithm>
#include <cctype>
#include <vector>

#include <trn/core/layout.hpp>
#include <trn/core/output_file.hpp>

#include "files/text.hpp"
#include "gather_entries.hpp"
#include "pattern_checks.hpp"
#include "scalars.hpp"
#include "transpose.hpp"

namespace trn::sparse {

namespace {

using files::Contents;
using files::Cursor;

constexpr const char* kRead = "sparse.read_matrix_market";
constexpr const char* kWrite = "sparse.write_matrix_market";

MatrixMarketHeader read_header(Cursor& in) {
  std::vector<std::string> words;
  if (in.done()) in.refuse("the file is empty");
  const std::string_view first = in.line();
  for (std::size_t at = 0; at < first.size();) {
    const std::size_t from = first.find_first_not_of(" \t", at),
                      to = std::min(first.find_first_of(" \t", from), first.size());
    if (from == std::string_view::npos) break;
    words.emplace_back(first.substr(from, to - from));
    for (char& c : words.back()) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    at = to;
  }
  if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix")
    in.refuse("the first line is not '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
  const auto choose = [&](const std::string& word, std::initializer_list<const char*> names) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const char* n) { return word == n; });
    if (found == names.end()) in.refuse(fmt::format("'{}' is unknown here", word.substr(0, 40)));
    return found - names.begin();
  };
  MatrixMarketHeader h;
  h.coordinate = choose(words[2], {"coordinate", "array"}) == 0;
  h.field = static_cast<MatrixMarketField>(choose(words[3], {"real", "integer", "complex", "pattern"}));
  constexpr Symmetry kinds[] = {Symmetry::General, Symmetry::Symmetric, Symmetry::Hermitian, Symmetry::Skew};
  h.symmetry = kinds[choose(words[4], {"general", "symmetric", "hermitian", "skew-symmetric"})];
  if (!h.coordinate && h.field == MatrixMarketField::Pattern)
    in.refuse("an array has values: 'pattern' is not possible");
  if (h.symmetry == Symmetry::Hermitian && h.field != MatrixMarketField::Complex)
    in.refuse("'hermitian' needs 'complex'");
  if (h.symmetry == Symmetry::Skew && h.field == MatrixMarketField::Pattern) in.refuse("'skew-symmetric' needs values");
  if (!in.next_line()) in.refuse("the line of sizes is missing");
  h.extents.rows = in.integer("the number of rows");
  h.extents.columns = in.integer("the number of columns");
  if (h.coordinate) h.entries = in.integer("the number of entries");
  in.end_line();
  if (h.extents.rows < 0 || h.extents.columns < 0 || h.entries < 0) in.refuse("a size is negative");
  if (h.symmetry != Symmetry::General && h.extents.rows != h.extents.columns)
    in.refuse("a symmetric matrix must be square");
  if (!h.coordinate) {
    layout::Wide count = layout::Wide{h.extents.rows} * h.extents.columns;
    if (h.symmetry != Symmetry::General)
      count = layout::Wide{h.extents.rows} * (h.extents.rows + (h.symmetry == Symmetry::Skew ? -1 : 1)) / 2;
    if (count > in.left()) in.refuse("the file is too short for an array of these extents");
    h.entries = static_cast<std::int64_t>(count);
  }
  return h;
}

template <Scalar T, Index I> struct Entries {
  MatrixMarketHeader header;
  std::vector<I> rows, columns;
  std::vector<T> values;
};

template <Scalar T> T read_value(Cursor& in, MatrixMarketField field) {
  using R = Real<T>;
  if (field == MatrixMarketField::Pattern) return T(1);
  const R re = field == MatrixMarketField::Integer ? static_cast<R>(in.integer("an entry")) : in.real<R>();
  [[maybe_unused]] const R im = field == MatrixMarketField::Complex ? in.real<R>() : R(0);
  if constexpr (ComplexScalar<T>)
    return {re, im};
  else
    return re;
}

template <Scalar T, Index I> Entries<T, I> read_entries(Cursor& in, const ReadOptions& options) {
  Entries<T, I> e{read_header(in), {}, {}, {}};
  const MatrixMarketHeader& h = e.header;
  if (RealScalar<T> && h.field == MatrixMarketField::Complex)
    in.refuse("a complex matrix; read it with a complex type");
  check_extents<I>(kRead, h.extents);
  const std::int64_t fewest = h.coordinate ? 4 : 2;  // characters of an entry
  const bool mirror = options.expand && h.symmetry != Symmetry::General;
  const std::int64_t room = std::min(h.entries, in.left() / fewest + 1) * (mirror ? 2 : 1);
  e.rows.reserve(static_cast<std::size_t>(room));
  e.columns.reserve(static_cast<std::size_t>(room));
  e.values.reserve(static_cast<std::size_t>(room));
  std::int64_t row = 0, column = 0;
  const bool skew = h.symmetry == Symmetry::Skew;
  if (!h.coordinate && skew) row = 1;
  for (std::int64_t k = 0; k < h.entries; ++k) {
    if (!in.next_line()) in.refuse(fmt::format("the file ends after {} of {} entries", k, h.entries));
    if (h.coordinate) {
      row = in.integer("a row index") - 1;
      column = in.integer("a column index") - 1;
      if (row < 0 || row >= h.extents.rows || column < 0 || column >= h.extents.columns)
        in.refuse(
            fmt::format("entry ({}, {}) lies outside {} x {}", row + 1, column + 1, h.extents.rows, h.extents.columns));
    }
    const T value = read_value<T>(in, h.field);
    in.end_line();
    if (row == column && skew && value != T(0)) in.refuse("the diagonal of a skew-symmetric matrix is zero");
    if (row == column && h.symmetry == Symmetry::Hermitian && value != conjugate_of(value))
      in.refuse("the diagonal of a Hermitian matrix is real");
    if (h.coordinate || value != T(0)) {
      e.rows.push_back(static_cast<I>(row)), e.columns.push_back(static_cast<I>(column)), e.values.push_back(value);
      if (mirror && row != column) {
        e.rows.push_back(static_cast<I>(column)), e.columns.push_back(static_cast<I>(row));
        e.values.push_back(skew ? -value : h.symmetry == Symmetry::Hermitian ? conjugate_of(value) : value);
      }
    }
    if (!h.coordinate && ++row == h.extents.rows) {
      ++column;
      row = h.symmetry == Symmetry::General ? 0 : skew ? column + 1 : column;
    }
  }
  if (in.next_line()) in.refuse(fmt::format("more than the declared {} entries", h.entries));
  return e;
}

template <Scalar T, Index I> Csr<T, I> compressed(Cursor& in, std::int64_t bytes, const ReadOptions& options) {
  const Entries<T, I> e = read_entries<T, I>(in, options);
  // Offsets cost eight bytes a row: for rows that the file cannot have meant, an error instead of the memory.
  constexpr std::int64_t kAlways = std::int64_t{1} << 26;
  require(e.header.extents.rows <= kAlways + 64 * bytes,
          "{}: {} rows are declared for {} entries; read_matrix_market_coo stores no empty rows", kRead,
          e.header.extents.rows, e.values.size());
  const auto at = [](const auto& v) { return [p = v.data()](std::int64_t k) { return p[k]; }; };
  return gather_entries<T, I>(kRead, e.header.extents, static_cast<std::int64_t>(e.values.size()), at(e.rows),
                              at(e.columns), at(e.values), options.duplicates);
}

template <Scalar T> char* put_number(char* to, T value) {
  if constexpr (ComplexScalar<T>) {
    to = put_number(to, value.real());
    *to++ = ' ';
    return put_number(to, value.imag());
  } else {
    return std::to_chars(to, to + 40, value).ptr;
  }
}

// Lines are gathered into large pieces.
class Lines {
 public:
  explicit Lines(OutputFile& file) : file_(file), buffer_(std::size_t{1} << 16) {}
  ~Lines() = default;
  template <Scalar T> void entry(std::int64_t i, std::int64_t j, const T* value) {
    char* to = start();
    if (i > 0) {
      to = std::to_chars(to, to + 24, i).ptr;
      *to++ = ' ';
      to = std::to_chars(to, to + 24, j).ptr;
      if (value != nullptr) *to++ = ' ';
    }
    if (value != nullptr) to = put_number(to, *value);
    *to++ = '\n';
    used_ = static_cast<std::size_t>(to - buffer_.data());
  }
  void flush() {
    file_.write({buffer_.data(), used_});
    used_ = 0;
  }

 private:
  char* start() {
    if (used_ + 160 > buffer_.size()) flush();
    return buffer_.data() + used_;
  }
  OutputFile& file_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
};

template <Scalar T> const char* field_of(bool pattern) {
  return pattern ? "pattern" : ComplexScalar<T> ? "complex" : "real";
}

}  // namespace

MatrixMarketHeader read_matrix_market_header(const std::string& path) {
  const Contents contents(kRead, path);
  Cursor in(kRead, path, contents.text());
  return read_header(in);
}

template <Scalar T, Index I> Csr<T, I> read_matrix_market(const std::string& path, const ReadOptions& options) {
  const Contents contents(kRead, path);
  return parse_matrix_market<T, I>(contents.text(), path, options);
}

template <Scalar T, Index I>
Csr<T, I> parse_matrix_market(std::string_view text, const std::string& name, const ReadOptions& options) {
  Cursor in(kRead, name, text);
  return compressed<T, I>(in, static_cast<std::int64_t>(text.size()), options);
}

template <Scalar T, Index I> Coo<T, I> read_matrix_market_coo(const std::string& path, const ReadOptions& options) {
  const Contents contents(kRead, path);
  Cursor in(kRead, path, contents.text());
  const Entries<T, I> e = read_entries<T, I>(in, options);
  const std::vector<std::int64_t> rows(e.rows.begin(), e.rows.end()), columns(e.columns.begin(), e.columns.end());
  return Coo<T, I>::from_triplets(Executor::host(), e.header.extents, {rows, columns, e.values}, options.duplicates);
}

template <Scalar T> Matrix<T> read_matrix_market_dense(const std::string& path) {
  const Contents contents(kRead, path);
  Cursor in(kRead, path, contents.text());
  const Entries<T, std::int64_t> e = read_entries<T, std::int64_t>(in, {});
  require(!e.header.coordinate, "{}: {} holds coordinates, not an array; use read_matrix_market", kRead, path);
  Matrix<T> dense(Executor::host(), e.header.extents.rows, e.header.extents.columns);
  std::fill(dense.data(), dense.data() + dense.rows() * dense.columns(), T(0));
  for (std::size_t k = 0; k < e.values.size(); ++k)
    dense.data()[e.rows[k] * dense.columns() + e.columns[k]] = e.values[k];
  return dense;
}

template <Scalar T, Index I>
void write_matrix_market(const std::string& path, const Csr<T, I>& a, const WriteOptions& o) {
  host_only(kWrite, a.executor());
  const bool half = o.symmetry != Symmetry::General, skew = o.symmetry == Symmetry::Skew;
  require(!(o.symmetry == Symmetry::Hermitian && RealScalar<T>), "{}: a real matrix is symmetric, not Hermitian",
          kWrite);
  require(!(o.pattern && half && o.symmetry != Symmetry::Symmetric), "{}: a pattern is general or symmetric", kWrite);
  const CsrRef<T, I> s = host_ref(a);
  if (half) {
    check_square(kWrite, a.extents());
    const auto mirrored = [&](T x) { return skew ? -x : o.symmetry == Symmetry::Hermitian ? conjugate_of(x) : x; };
    const Csr<T, I> t = transposed(a, mirrored);
    require(
        t.pattern().equals(a.pattern()) && (o.pattern || std::equal(s.values, s.values + s.nnz(), t.values().data())),
        "{}: the matrix does not have the symmetry that it is to be written with", kWrite);
  }
  std::int64_t count = s.nnz();
  if (half) {
    count = 0;
    for (std::int64_t i = 0; i < s.rows; ++i) {
      for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k)
        count += s.indices[k] < i || (s.indices[k] == i && !skew);
    }
  }
  OutputFile file(kWrite, path);
  constexpr const char* names[] = {"general", "symmetric", "hermitian", "skew-symmetric"};
  file.print("%%MatrixMarket matrix coordinate {} {}\n", field_of<T>(o.pattern), names[static_cast<int>(o.symmetry)]);
  for (std::size_t at = 0; at < o.comment.size();) {
    const std::size_t end = std::min(o.comment.find('\n', at), o.comment.size());
    file.print("% {}\n", o.comment.substr(at, end - at));
    at = end + 1;
  }
  file.print("{} {} {}\n", s.rows, s.columns, count);
  Lines lines(file);
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k) {
      const std::int64_t j = s.indices[k];
      if (!half || j < i || (j == i && !skew))
        lines.entry(i + 1, j + 1, o.pattern ? static_cast<const T*>(nullptr) : s.values + k);
    }
  }
  lines.flush();
  file.commit();
}

template <Scalar T> void write_matrix_market(const std::string& path, const MatrixView<const T>& a) {
  host_only(kWrite, a.executor());
  OutputFile file(kWrite, path);
  file.print("%%MatrixMarket matrix array {} general\n{} {}\n", field_of<T>(false), a.rows(), a.columns());
  Lines lines(file);
  for (std::int64_t j = 0; j < a.columns(); ++j) {
    for (std::int64_t i = 0; i < a.rows(); ++i)
      lines.entry(0, 0, a.data() + i * a.row_stride() + j * a.column_stride());
  }
  lines.flush();
  file.commit();
}

#define TRN_MATRIX_MARKET(T, I)                                                                     \
  template Csr<T, I> read_matrix_market(const std::string&, const ReadOptions&);                    \
  template Coo<T, I> read_matrix_market_coo(const std::string&, const ReadOptions&);                \
  template Csr<T, I> parse_matrix_market(std::string_view, const std::string&, const ReadOptions&); \
  template void write_matrix_market(const std::string&, const Csr<T, I>&, const WriteOptions&);
TRN_SPARSE_INDEXED(TRN_MATRIX_MARKET)
#undef TRN_MATRIX_MARKET
#define TRN_MATRIX_MARKET_DENSE(T)                                 \
  template Matrix<T> read_matrix_market_dense(const std::string&); \
  template void write_matrix_market(const std::string&, const MatrixView<const T>&);
TRN_SPARSE_SCALARS(TRN_MATRIX_MARKET_DENSE)
#undef TRN_MATRIX_MARKET_DENSE

}  // namespace trn::sparse
