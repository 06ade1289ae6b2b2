// `trnsci fuzz sparse`: damaged files of every reader (success or one of the library's errors, and no memory for sizes
// that are only declared); products, transposes and direct solves of random matrices against long double.
#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include <trn/core/error.hpp>
#include <trn/sparse/direct.hpp>
#include <trn/sparse/harwell_boeing.hpp>
#include <trn/sparse/matrix_market.hpp>
#include <trn/sparse/npz.hpp>
#include <trn/sparse/spgemm.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/sparse/structure.hpp>

#include "fuzz_driver.hpp"
#include "fuzz_random.hpp"

namespace trn::tools::fuzz {

namespace {

using sparse::Csr;
using Wide = std::complex<long double>;

template <Scalar T> Wide wide(T x) {
  if constexpr (ComplexScalar<T>)
    return {x.real(), x.imag()};
  else
    return {x, 0};
}

template <Scalar T> T number(Random& r) {
  const auto part = [&] {
    return static_cast<Real<T>>(std::ldexp(r.uniform(-1, 1), static_cast<int>(r.below(20)) - 10));
  };
  if constexpr (ComplexScalar<T>) {
    const auto re = part(), im = part();
    return {re, im};
  } else {
    return part();
  }
}

template <Scalar T> Csr<T> matrix(Random& r, std::int64_t rows, std::int64_t columns, bool diagonal) {
  std::vector<std::int64_t> is, js;
  std::vector<T> values;
  const std::int64_t per_row = r.size(8), full = r.chance(4) && rows > 0 ? r.below(rows) : -1;
  for (std::int64_t i = 0; i < rows && columns > 0; ++i) {
    const std::int64_t count = i == full ? columns : r.below(per_row + 1);
    for (std::int64_t k = 0; k < count; ++k)
      is.push_back(i), js.push_back(r.below(columns)), values.push_back(number<T>(r));
    if (diagonal) is.push_back(i), js.push_back(i), values.push_back(T(Real<T>(4096)));
  }
  return Csr<T>::from_triplets(Executor::host(), {rows, columns}, {is, js, values});
}

// The largest |y - op(A) x|_i in units of (|op(A)||x|)_i u, less the number of entries of the row.
template <Scalar T> double excess(const Csr<T>& a, const std::vector<T>& x, const std::vector<T>& y) {
  double worst = -std::numeric_limits<double>::infinity();
  const std::int64_t* offsets = a.pattern().offsets().data();
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    Wide sum = 0;
    long double size = 0;
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const Wide v = wide(a.values().data()[k]), z = wide(x[static_cast<std::size_t>(a.pattern().indices().data()[k])]);
      sum += Wide(v.real() * z.real() - v.imag() * z.imag(), v.real() * z.imag() + v.imag() * z.real());
      size += std::abs(v) * std::abs(z);
    }
    const long double error = std::abs(wide(y[static_cast<std::size_t>(i)]) - sum);
    constexpr long double u = std::numeric_limits<Real<T>>::epsilon() / 2;
    // Below the smallest normal numbers products round to a fixed step.
    const long double step = std::numeric_limits<Real<T>>::denorm_min() * static_cast<long double>(a.columns() + 4);
    const double over = static_cast<double>((error - step) / (size * u + step));
    worst = std::max(worst, over - static_cast<double>(offsets[i + 1] - offsets[i]));
  }
  return worst;
}

template <Scalar T> void product(Random& r, Current& current) {
  current.operation = "product";
  const std::int64_t rows = r.size(300), columns = r.size(300);
  const Csr<T> a = matrix<T>(r, rows, columns, false);
  const Op op = r.pick({Op::N, Op::T, Op::C});
  const auto kernel =
      r.pick({sparse::Kernel::Automatic, sparse::Kernel::Csr, sparse::Kernel::Sell, sparse::Kernel::Dia});
  current.what = fmt::format("product {} x {}, {} entries, op {}, {}", rows, columns, a.nnz(), static_cast<int>(op),
                             sparse::name(kernel));
  const Csr<T> turned = op == Op::N ? a : op == Op::T ? sparse::transpose(a) : sparse::adjoint(a);
  std::vector<T> x(static_cast<std::size_t>(turned.columns())), y(static_cast<std::size_t>(turned.rows()), T(7));
  for (T& v : x) v = number<T>(r);
  const Executor host = Executor::host();
  const sparse::SpmmPlan<T> plan(host, a, {.op = op, .kernel = kernel});
  plan.execute(T(1), MatrixView<const T>(host, x.data(), turned.columns(), 1, 1, turned.columns()), T(0),
               MatrixView<T>(host, y.data(), turned.rows(), 1, 1, turned.rows()));
  if (excess(turned, x, y) > 5) throw Finding{fmt::format("an error of {} more than the bound", excess(turned, x, y))};
  if (!sparse::equal(sparse::transpose(sparse::transpose(a)), a)) throw Finding{"transposed twice is another matrix"};
}

template <Scalar T> void solve(Random& r, Current& current) {
  const int kind = static_cast<int>(r.below(3));
  current.operation = kind == 0 ? "Cholesky" : kind == 1 ? "LU" : "QR";
  const std::int64_t n = r.size(120);
  Csr<T> a = matrix<T>(r, n, n, true);
  if (kind == 0) {  // the lower triangle of a dominant matrix
    a = sparse::add<T>(T(1), sparse::triangle(a, sparse::Uplo::Lower, -1), T(1),
                       sparse::adjoint(sparse::triangle(a, sparse::Uplo::Lower, -1)));
    a = sparse::add<T>(T(1), a, T(Real<T>(1e7)), sparse::identity<T>(Executor::host(), n));
  }
  current.what = fmt::format("{} of {} rows, {} entries", current.operation, n, a.nnz());
  std::vector<T> b(static_cast<std::size_t>(n)), x(b.size());
  for (T& v : b) v = number<T>(r);
  const Executor host = Executor::host();
  const MatrixView<const T> bv(host, b.data(), n, 1, 1, n);
  const MatrixView<T> xv(host, x.data(), n, 1, 1, n);
  const sparse::Reorder order = r.pick({sparse::Reorder::Best, sparse::Reorder::None, sparse::Reorder::MinimumDegree});
  const sparse::Solved s = kind == 0   ? sparse::Cholesky<T>(a, {{.ordering = order}}).solve(bv, xv)
                           : kind == 1 ? sparse::Lu<T>(a, {{.ordering = order}, 0.1, r.chance(2)}).solve(bv, xv)
                                       : sparse::Qr<T>(a, {{.ordering = order}}).solve(bv, xv);
  if (!s.outcome.ok()) {
    if (kind != 1) throw Finding{fmt::format("{} at {}", sparse::name(s.outcome.status), s.outcome.index)};
    return;
  }
  long double worst = 0, most = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    Wide rest = wide(b[static_cast<std::size_t>(i)]);
    long double size = 0;
    for (std::int64_t k = a.pattern().offsets().data()[i]; k < a.pattern().offsets().data()[i + 1]; ++k) {
      const Wide v = wide(a.values().data()[k]), z = wide(x[static_cast<std::size_t>(a.pattern().indices().data()[k])]);
      rest -= Wide(v.real() * z.real() - v.imag() * z.imag(), v.real() * z.imag() + v.imag() * z.real());
      size += std::abs(v) * std::abs(z);
    }
    worst = std::max(worst, std::abs(rest)), most = std::max(most, size);
  }
  const double limit = static_cast<double>(n + 2) * std::numeric_limits<Real<T>>::epsilon() / 2;
  if (!(worst <= limit * most)) throw Finding{fmt::format("a residual of {}", static_cast<double>(worst / most))};
}

// A small valid file, damaged: words replaced by numbers that no file should be believed about, cuts, doubled lines.
void reader(Random& r, Current& current) {
  const bool boeing = r.chance(2);
  current.operation = boeing ? "Harwell-Boeing" : "Matrix Market";
  std::string text = boeing ? "title                                                                   key     \n"
                              "             4             1             1             2             0\n"
                              "rua                        3             3             4             0\n"
                              "(4I20)          (4I20)          (3E26.17)           \n"
                              "                   1                   2                   4                   5\n"
                              "                   1                   1                   2                   3\n"
                              "   1.00000000000000000e+00   2.00000000000000000e+00   3.00000000000000000e+00\n"
                              "   4.00000000000000000e+00\n"
                            : "%%MatrixMarket matrix coordinate real general\n% c\n3 3 4\n1 1 1.5\n2 3 -2e-3\n3 1 4\n"
                              "2 2 1\n";
  constexpr const char* words[] = {
      "0", "-1", "999999999999", "9223372036854775807", "4294967296", "2147483647", "1e400", "nan", "1.5",
      "x", "",   "(9I0)"};
  for (std::int64_t times = 1 + r.below(3); times > 0 && !text.empty(); --times) {
    const std::size_t at = r.index(text.size());
    std::size_t begin = at, end = at;
    switch (r.below(5)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = static_cast<char>(r.below(256));
        break;
      case 2:
        text.insert(at, text.substr(at, static_cast<std::size_t>(r.size(60))));
        break;
      default:
        while (begin > 0 && text[begin - 1] > ' ') --begin;
        while (end < text.size() && text[end] > ' ') ++end;
        text.replace(begin, end - begin, words[r.index(std::size(words))]);
    }
  }
  current.what = fmt::format("{}: '{}'", current.operation, text);
  try {
    const Csr<double> a =
        boeing ? sparse::parse_harwell_boeing<double>(text, "fuzz") : sparse::parse_matrix_market<double>(text, "fuzz");
    // What was read is a matrix: its transpose of the transpose is the same, if it has no NaN. A transpose has offsets
    // for its rows, so a declared number of columns takes memory there, and rightly so.
    if (a.columns() > std::int64_t{1} << 26) return;
    const Csr<double> t = sparse::transpose(sparse::transpose(a));
    if (!t.pattern().equals(a.pattern())) throw Finding{"the matrix that was read is not sound"};
  } catch (const InvalidArgument& e) {
    if (std::string_view(e.what()).find('\n') != std::string_view::npos)
      throw Finding{fmt::format("a message of several lines: {}", e.what())};
  }
}

// A small .npz, stored or deflated, damaged: bytes changed, cut, doubled.
void npz_reader(Random& r, Current& current) {
  current.operation = ".npz";
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("trn_fuzz_sparse_{}.npz", getpid())).string();
  const struct Removed {
    const std::string& path;
    ~Removed() { std::filesystem::remove(path); }
  } removed{path};
  sparse::write_npz(path, matrix<double>(r, r.size(9), r.size(9), false),
                    r.chance(2) ? sparse::Compression::Stored : sparse::Compression::Deflated);
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::int64_t times = r.below(4); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = r.index(bytes.size());
    switch (r.below(6)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.insert(at, bytes.substr(at, static_cast<std::size_t>(r.size(60))));
        break;
      case 2:  // lengths, counts and checksums are four bytes
        for (std::size_t k = at; k < std::min(bytes.size(), at + 4); ++k) bytes[k] = static_cast<char>(0xff);
        break;
      default:
        bytes[at] = static_cast<char>(r.below(256));
    }
  }
  std::ofstream(path, std::ios::binary) << bytes;
  current.what = fmt::format(".npz of {} bytes", bytes.size());
  try {
    const Csr<double> a = sparse::read_npz<double>(path);
    if (a.columns() > std::int64_t{1} << 26) return;
    if (!sparse::transpose(sparse::transpose(a)).pattern().equals(a.pattern()))
      throw Finding{"the matrix that was read is not sound"};
  } catch (const InvalidArgument& e) {
    if (std::string_view(e.what()).find('\n') != std::string_view::npos)
      throw Finding{fmt::format("a message of several lines: {}", e.what())};
  }
}

template <Scalar T> void arithmetic(Random& r, Current& current) {
  if (r.chance(2))
    product<T>(r, current);
  else
    solve<T>(r, current);
}

}  // namespace

void add_fuzz_sparse(Command& parent) {
  Command command = parent.add("sparse", "damaged matrix files; sparse products and direct solves against long double");
  auto span = std::make_shared<Span>();
  add_span(command, *span);
  command.run([span] {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlimit limit{std::uint64_t{8} << 30, std::uint64_t{8} << 30};  // an absurd allocation is a finding
    setrlimit(RLIMIT_AS, &limit);
#endif
    drive(*span, "trnsci fuzz sparse", [&](std::uint64_t seed, Current& current) {
      Random r(seed);
      switch (r.below(6)) {
        case 0:
          return arithmetic<float>(r, current);
        case 1:
          return arithmetic<double>(r, current);
        case 2:
          return arithmetic<std::complex<float>>(r, current);
        case 3:
          return arithmetic<std::complex<double>>(r, current);
        default:
          return r.chance(3) ? npz_reader(r, current) : reader(r, current);
      }
    });
  });
}

}  // namespace trn::tools::fuzz
