// Harwell-Boeing and Rutherford-Boeing: columns of fixed width whose Fortran formats stand in the file itself.
#include <trn/sparse/harwell_boeing.hpp>

#include <algorithm>
#include <cctype>
#include <vector>

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

constexpr const char* kReadBoeing = "sparse.read_harwell_boeing";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}
std::string_view field(std::string_view line, std::size_t from, std::size_t width) {
  return from >= line.size() ? std::string_view{} : trimmed(line.substr(from, width));
}

// "(26I3)", "(5E16.8)", "(1P,4D20.12)", "(1P4E20.12E3)": numbers in a line, characters of one, digits after the point,
// and the power of ten by which numbers without an exponent are divided.
struct Format {
  std::int64_t count = 1, width = 0, decimals = 0, scale = 0;
};

Format parse_format(const Cursor& in, std::string_view text) {
  Format f;
  std::string t;
  for (const char c : text) {
    if (c != ' ' && c != '(' && c != ')') t += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  std::size_t at = 0;
  const auto number = [&](std::int64_t missing) {
    std::int64_t value = missing;
    const auto [stop, code] = std::from_chars(t.data() + at, t.data() + t.size(), value);
    if (code == std::errc{}) at = static_cast<std::size_t>(stop - t.data());
    return value;
  };
  std::int64_t first = number(1);
  if (at < t.size() && t[at] == 'P') {
    f.scale = first;
    at += at + 1 < t.size() && t[at + 1] == ',' ? 2 : 1;
    first = number(1);
  }
  f.count = first;
  const bool known = at < t.size() && std::string_view("IEDFG").find(t[at]) != std::string_view::npos;
  ++at;
  if (known) f.width = number(0);
  if (known && at < t.size() && t[at] == '.') {
    ++at;
    f.decimals = number(0);
  }
  if (!known || f.count < 1 || f.count > 10000 || f.width < 1 || f.width > 400 || f.decimals < 0 || f.decimals > 300 ||
      std::abs(f.scale) > 30)
    in.refuse(fmt::format("the format '{}' is not understood", text.substr(0, 40)));
  return f;
}

// `count` fields, line after line.
template <class F> void read_fields(Cursor& in, const Format& f, std::int64_t count, const F& take) {
  for (std::int64_t k = 0; k < count;) {
    if (in.done()) in.refuse(fmt::format("the file ends after {} of {} numbers", k, count));
    const std::string_view line = in.line();
    for (std::int64_t j = 0; j < f.count && k < count; ++j, ++k) {
      const std::string_view word =
          field(line, static_cast<std::size_t>(j * f.width), static_cast<std::size_t>(f.width));
      if (word.empty()) in.refuse("a number is missing");
      take(word);
    }
  }
}

std::int64_t whole(const Cursor& in, std::string_view word) {
  std::int64_t value = 0;
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc{} || stop != word.data() + word.size())
    in.refuse(fmt::format("'{}' is not a whole number", word.substr(0, 40)));
  return value;
}

double real_field(const Cursor& in, const Format& f, std::string_view word) {
  std::string text(word);
  // "1.5-101": an exponent without its letter, which Fortran writes for three digits.
  const std::size_t sign = text.find_last_of("+-");
  const bool letter = text.find_first_of("eEdD") != std::string::npos;
  if (!letter && sign != std::string::npos && sign > 0) text.insert(sign, 1, 'e');
  double value = 0;
  if (!files::parse_real(text, value)) in.refuse(fmt::format("'{}' is not a number", word.substr(0, 40)));
  if (!std::isfinite(value)) in.refuse(fmt::format("{} is not finite in double", word.substr(0, 40)));
  if (text.find('.') == std::string::npos) value *= std::pow(10.0, -static_cast<double>(f.decimals));
  if (text.find_first_of("eEdD") == std::string::npos) value *= std::pow(10.0, -static_cast<double>(f.scale));
  return value;
}

}  // namespace

template <Scalar T, Index I> Csr<T, I> parse_harwell_boeing(std::string_view text, const std::string& name) {
  Cursor in(kReadBoeing, name, text);
  const auto next = [&] {
    if (in.done()) in.refuse("the header is not complete");
    return in.line();
  };
  (void)next();
  // Harwell-Boeing counts lines in fields of 14; Rutherford-Boeing separates by blanks and has four of them.
  const std::string_view counts = next();
  std::int64_t words = 0;
  for (std::size_t at = 0; (at = counts.find_first_not_of(' ', at)) != std::string_view::npos; ++words)
    at = std::min(counts.find(' ', at), counts.size());
  const bool rutherford = words == 4 && counts.size() < 57;
  const std::int64_t right_hand_lines =
      rutherford ? 0 : (field(counts, 56, 14).empty() ? 0 : whole(in, field(counts, 56, 14)));
  const std::string_view line = next();
  std::string type(field(line, 0, 3));
  for (char& c : type) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (type.size() != 3 || std::string_view("RCPIQ").find(type[0]) == std::string_view::npos ||
      std::string_view("SUHZR").find(type[1]) == std::string_view::npos)
    in.refuse(fmt::format("the type '{}' is unknown", type));
  if (type[2] != 'A')
    fail<NotImplemented>("{}: {} holds finite elements ('{}'); assemble them first", kReadBoeing, name, type);
  const Extents e{whole(in, field(line, 14, 14)), whole(in, field(line, 28, 14))};
  const std::int64_t nnz = whole(in, field(line, 42, 14));
  if (e.rows < 0 || e.columns < 0 || nnz < 0) in.refuse("a size is negative");
  check_extents<I>(kReadBoeing, e);
  if (e.columns >= static_cast<std::int64_t>(text.size()) || nnz >= static_cast<std::int64_t>(text.size()) ||
      e.rows > (std::int64_t{1} << 26) + 64 * static_cast<std::int64_t>(text.size()))
    in.refuse("the file is too short for what it declares");
  const bool symmetric = type[1] == 'S' || type[1] == 'H' || type[1] == 'Z', pattern = type[0] == 'P' || type[0] == 'Q';
  if (symmetric && e.rows != e.columns) in.refuse("a symmetric matrix must be square");
  if (RealScalar<T> && type[0] == 'C') in.refuse("a complex matrix; read it with a complex type");
  const std::string_view formats = next();
  const Format pointers = parse_format(in, field(formats, 0, 16)), indices = parse_format(in, field(formats, 16, 16));
  Format values;
  if (!pattern) values = parse_format(in, field(formats, 32, 20));
  if (right_hand_lines > 0) (void)next();
  std::vector<std::int64_t> offsets;
  read_fields(in, pointers, e.columns + 1, [&](std::string_view w) { offsets.push_back(whole(in, w) - 1); });
  if (offsets.front() != 0 || offsets.back() != nnz || !std::is_sorted(offsets.begin(), offsets.end()))
    in.refuse(fmt::format("the column pointers do not rise from 1 to {}", nnz + 1));
  std::vector<I> rows;
  read_fields(in, indices, nnz, [&](std::string_view w) {
    const std::int64_t row = whole(in, w) - 1;
    if (row < 0 || row >= e.rows) in.refuse(fmt::format("row index {} of {}", row + 1, e.rows));
    rows.push_back(static_cast<I>(row));
  });
  std::vector<Real<T>> numbers;
  const bool complex_file = type[0] == 'C';
  if (!pattern) {
    read_fields(in, values, complex_file ? 2 * nnz : nnz, [&](std::string_view w) {
      Real<T> x = 0;
      if (!files::narrow(real_field(in, values, w), x)) in.refuse("a value is beyond the range of float");
      numbers.push_back(x);
    });
  }
  const auto value_of = [&](std::int64_t k) -> T {
    if (pattern) return T(1);
    if constexpr (ComplexScalar<T>) {
      if (complex_file) return {numbers[static_cast<std::size_t>(2 * k)], numbers[static_cast<std::size_t>(2 * k + 1)]};
    }
    return T(numbers[static_cast<std::size_t>(k)]);
  };
  std::vector<I> columns(rows.size());
  for (std::int64_t j = 0; j < e.columns; ++j)
    std::fill(columns.begin() + offsets[static_cast<std::size_t>(j)],
              columns.begin() + offsets[static_cast<std::size_t>(j) + 1], static_cast<I>(j));
  // Entry nnz + k mirrors entry k; those of the diagonal are left out.
  std::vector<std::int64_t> order;
  for (std::int64_t k = 0; k < nnz; ++k) order.push_back(k);
  for (std::int64_t k = 0; symmetric && k < nnz; ++k) {
    if (rows[static_cast<std::size_t>(k)] != columns[static_cast<std::size_t>(k)]) order.push_back(nnz + k);
  }
  const auto place = [&](std::int64_t n, bool row) {
    const std::int64_t k = order[static_cast<std::size_t>(n)];
    const auto at = static_cast<std::size_t>(k % std::max<std::int64_t>(nnz, 1));
    return row == (k < nnz) ? rows[at] : columns[at];
  };
  return gather_entries<T, I>(
      kReadBoeing, e, static_cast<std::int64_t>(order.size()), [&](std::int64_t n) { return place(n, true); },
      [&](std::int64_t n) { return place(n, false); },
      [&](std::int64_t n) {
        const std::int64_t k = order[static_cast<std::size_t>(n)];
        if (k < nnz) return value_of(k);
        const T x = value_of(k - nnz);
        return type[1] == 'Z' ? -x : type[1] == 'H' ? conjugate_of(x) : x;
      },
      Duplicates::Error);
}

template <Scalar T, Index I> Csr<T, I> read_harwell_boeing(const std::string& path) {
  const Contents contents(kReadBoeing, path);
  return parse_harwell_boeing<T, I>(contents.text(), path);
}

template <Scalar T, Index I> void write_rutherford_boeing(const std::string& path, const Csr<T, I>& a,
                                                          const std::string& title, const std::string& key) {
  constexpr const char* operation = "sparse.write_rutherford_boeing";
  host_only(operation, a.executor());
  require(title.size() <= 72 && key.size() <= 8 && (title + key).find('\n') == std::string::npos,
          "{}: the title has up to 72 characters and the key up to 8, on one line", operation);
  const CsrRef<T, I> own = host_ref(a);
  for (std::int64_t i = 0; i < own.rows; ++i) {
    for (std::int64_t k = own.offsets[i]; k < own.offsets[i + 1]; ++k)
      require(std::isfinite(std::abs(std::complex<double>(own.values[k]))),
              "{}: entry ({}, {}) is not finite, and no reader of the format takes that", operation, i, own.indices[k]);
  }
  const Csr<T, I> t = transposed(a, [](T x) { return x; });
  const CsrRef<T, I> s = host_ref(t);
  const std::int64_t numbers = s.nnz() * (ComplexScalar<T> ? 2 : 1);
  const auto lines = [](std::int64_t count, std::int64_t in_line) { return (count + in_line - 1) / in_line; };
  const std::int64_t pointers = lines(s.rows + 1, 4), indices = lines(s.nnz(), 4), values = lines(numbers, 3);
  OutputFile file(operation, path);
  file.print("{:<72}{:<8}\n", title, key);
  file.print("{:14} {:13} {:13} {:13}\n", pointers + indices + values, pointers, indices, values);
  file.print("{}{}A           {:14}{:14}{:14}{:14}\n", ComplexScalar<T> ? "c" : "r",
             a.rows() == a.columns() ? "u" : "r", a.rows(), a.columns(), a.nnz(), 0);
  file.print("{:<16}{:<16}{:<20}\n", "(4I20)", "(4I20)", "(3E26.17)");
  const auto table = [&](std::int64_t count, std::int64_t in_line, const auto& one) {
    for (std::int64_t k = 0; k < count; ++k) {
      one(k);
      if (k + 1 == count || k % in_line == in_line - 1) file.write("\n");
    }
  };
  table(s.rows + 1, 4, [&](std::int64_t k) { file.print("{:20}", s.offsets[k] + 1); });
  table(s.nnz(), 4, [&](std::int64_t k) { file.print("{:20}", s.indices[k] + 1); });
  table(numbers, 3, [&](std::int64_t k) {
    file.print("{:26.17e}", static_cast<double>(reinterpret_cast<const Real<T>*>(s.values)[k]));
  });
  file.commit();
}

#define TRN_BOEING(T, I)                                                         \
  template Csr<T, I> read_harwell_boeing(const std::string&);                    \
  template Csr<T, I> parse_harwell_boeing(std::string_view, const std::string&); \
  template void write_rutherford_boeing(const std::string&, const Csr<T, I>&, const std::string&, const std::string&);
TRN_SPARSE_INDEXED(TRN_BOEING)
#undef TRN_BOEING

}  // namespace trn::sparse
