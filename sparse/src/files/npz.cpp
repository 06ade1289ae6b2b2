// SciPy's .npz: arrays in NumPy's .npy format inside a ZIP archive.
#include <trn/sparse/npz.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include <trn/core/output_file.hpp>
#include <trn/sparse/convert.hpp>

#include "files/text.hpp"
#include "files/zip.hpp"
#include "gather_entries.hpp"
#include "pattern_checks.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace {

constexpr const char* kReadNpz = "sparse.read_npz";

// One array of an archive: NumPy's type ("<f8"), shape and bytes.
struct Npy {
  std::string type;
  std::vector<std::int64_t> shape;
  std::string_view data;
  std::int64_t size = 1;
};

class Archive {
 public:
  Archive(const std::string& path, std::string_view bytes)
      : path_(path), members_(files::unzip(kReadNpz, path, bytes)) {}
  [[noreturn]] void refuse(const std::string& why) const { fail<InvalidArgument>("{}: {}: {}", kReadNpz, path_, why); }

  [[nodiscard]] Npy array(const std::string& name) const {
    const auto found = members_.find(name + ".npy");
    if (found == members_.end()) refuse(fmt::format("the array '{}' is missing", name));
    const std::string_view all = found->second;
    const auto bad = [&] { refuse(fmt::format("'{}' is not an array of NumPy's .npy format", name)); };
    if (all.size() < 10 || all.substr(0, 6) != "\x93NUMPY") bad();
    const auto byte = [&](std::size_t k) { return static_cast<std::size_t>(static_cast<unsigned char>(all[k])); };
    const bool first = byte(6) == 1;
    if (!first && all.size() < 12) bad();
    const std::size_t length = byte(8) | byte(9) << 8 | (first ? 0 : byte(10) << 16 | byte(11) << 24);
    const std::size_t start = first ? 10 : 12;
    if (all.size() - start < length) bad();
    const std::string header(all.substr(start, length));
    Npy a;
    a.data = all.substr(start + length);
    a.type = quoted(header, "'descr'");
    const std::size_t shape = header.find("'shape'"), open = header.find('(', shape), close = header.find(')', open);
    if (shape == std::string::npos || open == std::string::npos || close == std::string::npos) bad();
    if (header.find("'fortran_order': True") != std::string::npos) fortran_ = true;
    for (std::size_t at = open + 1; at < close;) {
      std::int64_t extent = 0;
      while (at < close && (header[at] == ' ' || header[at] == ',' || header[at] == 'L')) ++at;
      if (at == close) break;
      const auto [stop, code] = std::from_chars(header.data() + at, header.data() + close, extent);
      if (code != std::errc{} || extent < 0) bad();
      a.shape.push_back(extent);
      at = static_cast<std::size_t>(stop - header.data());
    }
    if (fortran_ && a.shape.size() > 1) refuse("arrays in column-major order are not read");
    if (a.type.size() < 3 || a.type.size() > 8) bad();
    std::int64_t width = 0;
    std::from_chars(a.type.data() + 2, a.type.data() + a.type.size(), width);
    if (width < 1 || a.type[0] == '>') bad();
    for (const std::int64_t extent : a.shape) {
      if (__builtin_mul_overflow(a.size, extent, &a.size)) bad();
    }
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(a.size, width, &bytes) || bytes != static_cast<std::int64_t>(a.data.size()))
      refuse(fmt::format("'{}' does not hold the bytes of its shape", name));
    return a;
  }

  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name) const {
    const Npy a = array(name);
    std::vector<std::int64_t> values;
    if (!convert_to(
            a, values, [](auto x) { return static_cast<std::int64_t>(x); }, true))
      refuse(fmt::format("'{}' has the type {}, not integers", name, a.type));
    return values;
  }
  template <Scalar T> [[nodiscard]] std::vector<T> numbers(const Npy& a) const {
    std::vector<T> values;
    const bool complex_file = a.type[1] == 'c';
    if (complex_file && RealScalar<T>) refuse("a complex matrix; read it with a complex type");
    const bool known = complex_file ? convert_complex(a, values)
                                    : convert_to(
                                          a, values, [](auto x) { return T(static_cast<Real<T>>(x)); }, false);
    if (!known) refuse(fmt::format("values of type {} are not read", a.type));
    return values;
  }

 private:
  static std::string quoted(const std::string& text, const char* key) {
    const std::size_t at = text.find(key);
    if (at == std::string::npos) return "";
    const std::size_t colon = text.find(':', at), open = text.find('\'', colon);
    if (colon == std::string::npos || open == std::string::npos) return "";
    const std::size_t close = text.find('\'', open + 1);
    return close == std::string::npos ? "" : text.substr(open + 1, close - open - 1);
  }
  template <class From, class To, class F> static void copy_all(const Npy& a, std::vector<To>& to, const F& f) {
    to.resize(static_cast<std::size_t>(a.size));
    for (std::size_t k = 0; k < to.size(); ++k) {
      From x;
      std::memcpy(&x, a.data.data() + k * sizeof(From), sizeof(From));
      to[k] = f(x);
    }
  }
  template <class To, class F>
  static bool convert_to(const Npy& a, std::vector<To>& to, const F& f, bool integers_only) {
    const std::string kind = a.type.substr(1);
    if (kind == "i4") return copy_all<std::int32_t>(a, to, f), true;
    if (kind == "i8") return copy_all<std::int64_t>(a, to, f), true;
    if (kind == "i2") return copy_all<std::int16_t>(a, to, f), true;
    if (kind == "i1") return copy_all<std::int8_t>(a, to, f), true;
    if (kind == "u4") return copy_all<std::uint32_t>(a, to, f), true;
    if (kind == "u2") return copy_all<std::uint16_t>(a, to, f), true;
    if (kind == "u1" || (kind == "b1" && !integers_only)) return copy_all<std::uint8_t>(a, to, f), true;
    if (integers_only) return false;
    if (kind == "f4") return copy_all<float>(a, to, f), true;
    if (kind == "f8") return copy_all<double>(a, to, f), true;
    return false;
  }
  template <Scalar T> static bool convert_complex(const Npy& a, std::vector<T>& to) {
    if constexpr (ComplexScalar<T>) {
      const auto f = [](auto x) { return T(static_cast<Real<T>>(x.real()), static_cast<Real<T>>(x.imag())); };
      if (a.type == "<c8") return copy_all<std::complex<float>>(a, to, f), true;
      if (a.type == "<c16") return copy_all<std::complex<double>>(a, to, f), true;
    }
    return false;
  }

  const std::string& path_;
  std::map<std::string, std::string> members_;
  mutable bool fortran_ = false;
};

template <class T> std::string npy(const char* type, const std::string& shape, const T* data, std::size_t count) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string out = "\x93NUMPY";
  out += '\x01', out += '\x00';
  out += static_cast<char>(header.size() & 0xff), out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char*>(data), count * sizeof(T));
  return out;
}
template <class T> const char* numpy_type() {
  if constexpr (std::same_as<T, float>) return "<f4";
  if constexpr (std::same_as<T, double>) return "<f8";
  if constexpr (std::same_as<T, std::complex<float>>) return "<c8";
  if constexpr (std::same_as<T, std::complex<double>>) return "<c16";
  return sizeof(T) == 4 ? "<i4" : "<i8";
}

}  // namespace

template <Scalar T, Index I> Csr<T, I> read_npz(const std::string& path) {
  const files::Contents contents(kReadNpz, path);
  const Archive in(path, contents.text());
  const Npy name = in.array("format");
  std::string format;
  // Bytes from SciPy ("|S3"), text from others ("<U3", four bytes a character).
  const std::size_t step = name.type[1] == 'U' ? 4 : 1;
  for (std::size_t k = 0; k < name.data.size(); k += step) {
    if (name.data[k] != '\0') format += name.data[k];
  }
  const std::vector<std::int64_t> shape = in.integers("shape");
  if (shape.size() != 2) in.refuse("the shape is not two numbers");
  const Extents e{shape[0], shape[1]};
  check_extents<I>(kReadNpz, e);
  const Npy data = in.array("data");
  const std::vector<T> values = in.template numbers<T>(data);
  if (format == "csr" || format == "csc" || format == "bsr") {
    const std::vector<std::int64_t> wide = in.integers("indices"), offsets = in.integers("indptr");
    check_extents<I>(kReadNpz, {std::int64_t{0}, wide.empty() ? 0 : *std::max_element(wide.begin(), wide.end())});
    if (!wide.empty() && *std::min_element(wide.begin(), wide.end()) < 0) in.refuse("an index is negative");
    const std::vector<I> indices(wide.begin(), wide.end());
    const Executor host = Executor::host();
    const bool by_rows = format == "csr";
    if (by_rows || format == "csc") {
      const std::int64_t lines = by_rows ? e.rows : e.columns, across = by_rows ? e.columns : e.rows;
      if (static_cast<std::int64_t>(offsets.size()) != lines + 1 || offsets.front() != 0 ||
          offsets.back() != static_cast<std::int64_t>(wide.size()) || values.size() != wide.size() ||
          !std::is_sorted(offsets.begin(), offsets.end()))
        in.refuse("offsets, indices and values do not fit one another");
      if (!wide.empty() && *std::max_element(wide.begin(), wide.end()) >= across)
        in.refuse("an index is beyond the matrix");
    }
    if (by_rows) return Csr<T, I>::adopt(host, CsrView<T, I>{e, offsets, indices, values}, Duplicates::Sum);
    if (format == "csc")
      return to_csr(Csc<T, I>::adopt(host, CsrView<T, I>{e, offsets, indices, values}, Duplicates::Sum));
    if (data.shape.size() != 3 || data.shape[1] < 1 || data.shape[2] < 1)
      in.refuse("blocks are not an array of rank 3");
    const std::int64_t r = data.shape[1], c = data.shape[2];
    if (e.rows % r != 0 || e.columns % c != 0) in.refuse("the blocks do not divide the matrix");
    if (static_cast<std::int64_t>(offsets.size()) != e.rows / r + 1 || offsets.front() != 0 ||
        offsets.back() != static_cast<std::int64_t>(wide.size()) || data.shape[0] != offsets.back() ||
        !std::is_sorted(offsets.begin(), offsets.end()))
      in.refuse("the offsets of the blocks do not fit");
    // SciPy's blocks of a row need not be sorted: entry by entry.
    std::vector<std::int64_t> rows, columns;
    for (std::int64_t i = 0; i < e.rows / r; ++i) {
      for (std::int64_t k = offsets[static_cast<std::size_t>(i)]; k < offsets[static_cast<std::size_t>(i) + 1]; ++k) {
        for (std::int64_t q = 0; q < r * c; ++q)
          rows.push_back(i * r + q / c), columns.push_back(wide[static_cast<std::size_t>(k)] * c + q % c);
      }
    }
    return Csr<T, I>::from_triplets(host, e, {rows, columns, values});
  }
  if (format == "coo") {
    const std::vector<std::int64_t> rows = in.integers("row"), columns = in.integers("col");
    return Csr<T, I>::from_triplets(Executor::host(), e, {rows, columns, values});
  }
  if (format != "dia") in.refuse(fmt::format("the format '{}' is unknown", format.substr(0, 20)));
  // data[k, j] is A(j - offsets[k], j); the array may be narrower than the matrix.
  const std::vector<std::int64_t> offsets = in.integers("offsets");
  const auto diagonals = static_cast<std::int64_t>(offsets.size());
  if (data.shape.size() != 2 || data.shape[0] != diagonals) in.refuse("there is not one row of values for each offset");
  std::vector<std::int64_t> rows, columns;
  std::vector<T> kept;
  for (std::int64_t k = 0; k < diagonals; ++k) {
    const std::int64_t d = offsets[static_cast<std::size_t>(k)];
    if (d <= -e.rows || d >= e.columns) continue;
    for (std::int64_t j = std::max<std::int64_t>(0, d); j < std::min({e.columns, data.shape[1], e.rows + d}); ++j) {
      const T x = values[static_cast<std::size_t>(k * data.shape[1] + j)];
      if (x == T(0)) continue;
      rows.push_back(j - d), columns.push_back(j), kept.push_back(x);
    }
  }
  return Csr<T, I>::from_triplets(Executor::host(), e, {rows, columns, kept});
}

template <Scalar T, Index I> void write_npz(const std::string& path, const Csr<T, I>& a, Compression compression) {
  constexpr const char* operation = "sparse.write_npz";
  host_only(operation, a.executor());
  const CsrRef<T, I> s = host_ref(a);
  const std::int64_t shape[] = {s.rows, s.columns};
  const auto nnz = static_cast<std::size_t>(s.nnz()), rows = static_cast<std::size_t>(s.rows);
  const std::string length = fmt::format("({},)", nnz);
  std::vector<std::pair<std::string, std::string>> members;
  // SciPy takes indices and offsets of one type.
  const bool narrow = sizeof(I) == 4 && s.nnz() <= std::numeric_limits<std::int32_t>::max();
  const auto integers = [&](const std::string& name, const auto* values, std::size_t count) {
    const std::string text = fmt::format("({},)", count);
    if (narrow) {
      const std::vector<std::int32_t> copied(values, values + count);
      members.emplace_back(name, npy("<i4", text, copied.data(), count));
    } else {
      const std::vector<std::int64_t> copied(values, values + count);
      members.emplace_back(name, npy("<i8", text, copied.data(), count));
    }
  };
  integers("indices.npy", s.indices, nnz);
  integers("indptr.npy", s.offsets, rows + 1);
  members.emplace_back("format.npy", npy("|S3", "()", "csr", 3));
  members.emplace_back("shape.npy", npy("<i8", "(2,)", shape, 2));
  members.emplace_back("data.npy", npy(numpy_type<T>(), length, s.values, nnz));
  OutputFile file(operation, path);
  file.write(files::zip(operation, members, compression == Compression::Deflated));
  file.commit();
}

#define TRN_NPZ(T, I)                              \
  template Csr<T, I> read_npz(const std::string&); \
  template void write_npz(const std::string&, const Csr<T, I>&, Compression);
TRN_SPARSE_INDEXED(TRN_NPZ)
#undef TRN_NPZ

}  // namespace trn::sparse
