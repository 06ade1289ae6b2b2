// Files: every kind of Matrix Market file, damaged ones, Harwell-Boeing, SciPy's .npz, and a small fuzzer for each.
#include <complex>
#include <cstdlib>

#include <test_paths.hpp>

#include <trn/sparse/harwell_boeing.hpp>
#include <trn/sparse/matrix_market.hpp>
#include <trn/sparse/npz.hpp>

#include "sparse_support.hpp"

namespace trn::sparse {
namespace {

using Z = std::complex<double>;

template <Scalar T = double> Csr<T> parse(const std::string& text) { return parse_matrix_market<T>(text, "text"); }
std::string refused(const std::string& text) {
  return message_of<InvalidArgument>([&] { (void)parse(text); });
}

TEST(MatrixMarket, ReadsEveryKind) {
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1.5\n2 3 -2e-3\n")),
            (std::vector<double>{1.5, 0, 0, 0, 0, -2e-3}));
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix coordinate integer general\n1 2 1\n1 2 -7\n")),
            (std::vector<double>{0, -7}));
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n")),
            (std::vector<double>{0, 1}));
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 5\n")),
            (std::vector<double>{1, 5, 5, 0}));
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n")),
            (std::vector<double>{0, -5, 5, 0}));
  EXPECT_EQ(dense(parse<Z>("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 2\n")),
            (std::vector<Z>{3, {1, -2}, {1, 2}, 0}));
  EXPECT_EQ(dense(parse<Z>("%%MatrixMarket matrix coordinate complex symmetric\n2 2 1\n2 1 1 2\n")),
            (std::vector<Z>{0, {1, 2}, {1, 2}, 0}));
  EXPECT_EQ(dense(parse<Z>("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n")), (std::vector<Z>{4}));
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n")),
            (std::vector<double>{1, 3, 2, 4}));
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n")),
            (std::vector<double>{1, 2, 2, 3}));
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n")),
            (std::vector<double>{0, -1, -2, 1, 0, -3, 2, 3, 0}));
  EXPECT_EQ(parse("%%MatrixMarket matrix coordinate real general\n0 0 0\n").nnz(), 0);
}

TEST(MatrixMarket, ReadsUglyFiles) {
  EXPECT_EQ(dense(parse("%%matrixmarket MATRIX Coordinate Real General\r\n% a comment\r\n\r\n2 2 2\r\n% inside\r\n1 1 "
                        "+1D0\r\n   \r\n\t2  2   .5  \r\n\r\n% end\r\n")),
            (std::vector<double>{1, 0, 0, 0.5}));
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e-400")), (std::vector<double>{0}));
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 2\n1 1 3")),
            (std::vector<double>{5}));
}

TEST(MatrixMarket, RefusesWithTheLine) {
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  EXPECT_IN("empty", refused(""));
  EXPECT_IN("first line is not", refused("2 2 1\n1 1 1\n"));
  EXPECT_IN("'float' is unknown", refused("%%MatrixMarket matrix coordinate float general\n1 1 0\n"));
  EXPECT_IN("sizes is missing", refused(real));
  EXPECT_IN("line 4: the file ends after 1 of 2", refused(real + "2 2 2\n1 1 1\n"));
  EXPECT_IN("line 4: more than the declared 1", refused(real + "2 2 1\n1 1 1\n2 2 1\n"));
  EXPECT_IN("line 3: entry (3, 1) lies outside 2 x 2", refused(real + "2 2 1\n3 1 1\n"));
  EXPECT_IN("entry (0, 1)", refused(real + "2 2 1\n0 1 1\n"));
  EXPECT_IN("entry (-1, 1)", refused(real + "2 2 1\n-1 1 1\n"));
  EXPECT_IN("1e400 is beyond the range of double", refused(real + "1 1 1\n1 1 1e400\n"));
  EXPECT_IN("not a number", refused(real + "1 1 1\n1 1 x\n"));
  EXPECT_IN("a number is missing", refused(real + "1 1 1\n1 1\n"));
  EXPECT_IN("something follows", refused(real + "1 1 1\n1 1 1 1\n"));
  EXPECT_IN("not a whole number", refused(real + "1 1.5 1\n1 1 1\n"));
  EXPECT_IN("does not fit 64 bits", refused(real + "99999999999999999999 1 1\n1 1 1\n"));
  EXPECT_IN("a size is negative", refused(real + "1 1 -1\n"));
  EXPECT_IN("must be square", refused("%%MatrixMarket matrix coordinate real symmetric\n1 2 0\n"));
  EXPECT_IN("needs 'complex'", refused("%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n"));
  EXPECT_IN("needs values", refused("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n"));
  EXPECT_IN("diagonal of a skew", refused("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 1\n1 1 1\n"));
  EXPECT_IN("complex type", refused("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n"));
  EXPECT_IN("'pattern' is not possible", refused("%%MatrixMarket matrix array pattern general\n1 1\n1\n"));
  EXPECT_IN("range of float", message_of<InvalidArgument>([&] { (void)parse<float>(real + "1 1 1\n1 1 1e300\n"); }));
}

TEST(MatrixMarket, DoesNotAllocateWhatIsOnlyDeclared) {
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  EXPECT_IN("ends after 0", refused(real + "10 10 9000000000000000000\n"));
  EXPECT_IN("too short", refused("%%MatrixMarket matrix array real general\n2000000000 2000000000\n1\n"));
  EXPECT_IN("do not fit 32-bit indices, which end at 2147483647; use 64-bit",
            refused(real + "9000000000000000000 1 1\n1 1 1\n"));
  EXPECT_IN("2000000000 rows are declared", refused(real + "2000000000 2 1\n1 1 1\n"));
  const TemporaryFile file(".mtx", real + "9000000000000000000 9000000000000000000 1\n8999999999999999999 1 2.5\n");
  const auto coo = read_matrix_market_coo<double, std::int64_t>(file.path());
  EXPECT_EQ(coo.nnz(), 1);
  EXPECT_EQ(coo.row_indices().data()[0], 8999999999999999998);
}

TEST(MatrixMarket, WritesWhatItReads) {
  const TemporaryFile file(".mtx");
  const auto a = random_csr<Z>(50, 40, 5, 3);
  write_matrix_market(file.path(), a, {.comment = "two\nlines"});
  EXPECT_TRUE(equal(read_matrix_market<Z>(file.path()), a));
  const auto f = random_csr<float, std::int64_t>(50, 40, 5, 3);
  write_matrix_market(file.path(), f);
  EXPECT_TRUE(equal(read_matrix_market<float, std::int64_t>(file.path()), f));
  const auto square = random_csr<Z>(30, 30, 3, 4);
  const auto h = add<Z>(1, square, 1, adjoint(square)), s = add<Z>(1, square, -1, transpose(square));
  write_matrix_market(file.path(), h, {.symmetry = Symmetry::Hermitian});
  EXPECT_TRUE(equal(read_matrix_market<Z>(file.path()), h));
  EXPECT_EQ(read_matrix_market_header(file.path()).symmetry, Symmetry::Hermitian);
  EXPECT_LT(read_matrix_market<Z>(file.path(), {.expand = false}).nnz(), h.nnz());
  write_matrix_market(file.path(), s, {.symmetry = Symmetry::Skew});
  EXPECT_TRUE(equal(prune(read_matrix_market<Z>(file.path()), 0), prune(s, 0)));
  EXPECT_IN("does not have the symmetry", message_of<InvalidArgument>([&] {
              write_matrix_market(file.path(), square, {.symmetry = Symmetry::Symmetric});
            }));
  write_matrix_market(file.path(), square, {.pattern = true});
  EXPECT_TRUE(read_matrix_market<Z>(file.path()).pattern().equals(square.pattern()));
  const auto d = to_dense(square);
  write_matrix_market(file.path(), MatrixView<const Z>(d.view()));
  EXPECT_EQ(read_matrix_market_dense<Z>(file.path()).to_host(), d.to_host());
  EXPECT_IN("cannot open", message_of<InvalidArgument>([] { (void)read_matrix_market<Z>("/nowhere/x.mtx"); }));
}

const char* kHarwell =
    "A small matrix                                                          SMALL   \n"
    "             4             1             1             2             0\n"
    "RSA                        3             3             4             0\n"
    "(4I3)           (4I3)           (2E12.4)            \n"
    "  1  3  4  5\n"
    "  1  3  2  3\n"
    "  1.0000E+00 -2.5000D-01\n"
    "  4.0000E+00  5.5000E+00\n";

TEST(HarwellBoeing, ReadsSymmetricAndWritesItsOwn) {
  EXPECT_EQ(dense(parse_harwell_boeing<double>(kHarwell, "text")),
            (std::vector<double>{1, 0, -0.25, 0, 4, 0, -0.25, 0, 5.5}));
  const TemporaryFile file(".rb");
  const auto a = random_csr<Z>(33, 47, 4, 2);
  write_rutherford_boeing(file.path(), a, "random", "key");
  EXPECT_TRUE(equal(read_harwell_boeing<Z>(file.path()), a));
  const auto b = random_csr<float, std::int64_t>(20, 20, 4, 2);
  write_rutherford_boeing(file.path(), b);
  EXPECT_TRUE(equal(read_harwell_boeing<float, std::int64_t>(file.path()), b));
  std::string text = kHarwell;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string t = kHarwell;
    t.replace(t.find(from), from.size(), to);
    return message_of<InvalidArgument>([&] { (void)parse_harwell_boeing<double>(t, "text"); });
  };
  EXPECT_IN("is unknown", changed("RSA", "XSA"));
  EXPECT_IN("complex type", changed("RSA", "CSA"));
  EXPECT_IN("row index 9", changed("  1  3  2  3\n", "  1  3  2  9\n"));
  EXPECT_IN("do not rise", changed("  1  3  4  5\n", "  1  4  3  5\n"));
  EXPECT_IN("not understood", changed("(2E12.4)", "(2X12.4)"));
  EXPECT_IN("is not a number", changed("4.0000E+00", "4.0z00E+00"));
  EXPECT_IN("too short",
            changed("             3             4             0\n", "    2000000000             4             0\n"));
  EXPECT_IN("finite elements", message_of<NotImplemented>([&] {
              text.replace(text.find("RSA"), 3, "RSE");
              (void)parse_harwell_boeing<double>(text, "text");
            }));
  EXPECT_IN("ends after", message_of<InvalidArgument>([&] {
              (void)parse_harwell_boeing<double>(
                  std::string(kHarwell).substr(0, std::string(kHarwell).find("  4.0000E")), "text");
            }));
}

// SciPy writes each of its formats; SciPy reads what we write.
TEST(Npz, ExchangesWithSciPy) {
  if (std::system(TRN_PYTHON " -c 'import scipy.sparse' 2>/dev/null") != 0) GTEST_SKIP() << "no SciPy";
  const auto a = random_csr<double>(24, 36, 5, 8);
  const TemporaryFile mtx(".mtx"), ours(".npz"), stored(".npz"), theirs(".npz"), script(".py");
  write_matrix_market(mtx.path(), a);
  write_npz(ours.path(), a);
  write_npz(stored.path(), with_index<std::int64_t>(a), Compression::Stored);
  for (const char* format : {"csr", "csc", "coo", "bsr", "dia"}) {
    SCOPED_TRACE(format);
    const std::string text = fmt::format(
        "import scipy.sparse as s, scipy.io as io\n"
        "a = io.mmread('{}').tocsr()\n"
        "for f in ('{}', '{}'):\n"
        "    b = s.load_npz(f)\n"
        "    assert b.shape == a.shape and abs(a - b).nnz == 0 and a.nnz == b.nnz\n"
        "s.save_npz('{}', a.asformat('{}', **({{}} if '{}' != 'bsr' else {{'blocksize': (2, 3)}})) if '{}' != 'bsr' "
        "else a.tobsr((2, 3)))\n",
        mtx.path(), ours.path(), stored.path(), theirs.path(), format, format, format);
    std::ofstream(script.path()) << text;
    ASSERT_EQ(std::system((std::string(TRN_PYTHON " ") + script.path()).c_str()), 0);
    const auto back = read_npz<double>(theirs.path());
    expect_valid(back);
    EXPECT_TRUE(equal(prune(back, 0), a));
    EXPECT_TRUE(
        equal(prune(read_npz<Z, std::int64_t>(theirs.path()), 0), prune(read_npz<Z, std::int64_t>(ours.path()), 0)));
  }
  EXPECT_IN("not a .npz", message_of<InvalidArgument>([&] { (void)read_npz<double>(mtx.path()); }));
}

// Damages text in a few places; readers may succeed or throw one of our errors of one line, nothing else.
template <class Read> void fuzz(const std::string& good, int cases, const Read& read) {
  std::mt19937_64 r(11);
  const std::vector<std::string> words{
      "-1", "0", "1e400", "99999999999999999999", "2147483648", "nan", "", "x", "9223372036854775807", "%", "\n", "\r"};
  int accepted = 0;
  for (int k = 0; k < cases; ++k) {
    std::string text = good;
    for (std::uint64_t change = 0; change <= r() % 3; ++change) {
      const std::size_t at = text.empty() ? 0 : r() % text.size();
      switch (r() % 4) {
        case 0:
          text.resize(at);
          break;
        case 1:
          if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << r() % 8));
          break;
        case 2:
          text.insert(at, words[r() % words.size()]);
          break;
        default:
          text.erase(at, 1 + r() % 8);
          break;
      }
    }
    try {
      read(text);
      ++accepted;
    } catch (const InvalidArgument& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    } catch (const NotImplemented&) {
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(Files, DamagedOnesGiveOneLineErrors) {
  fuzz("%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 5\n1 1 1.0\n2 2 2\n3 2 -1\n3 3 1e5\n4 1 0.5\n", 3000,
       [](const std::string& t) { expect_valid(parse(t)); });
  fuzz("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 1\n3 0\n", 2000,
       [](const std::string& t) { expect_valid(parse<Z>(t)); });
  fuzz(kHarwell, 3000, [](const std::string& t) { expect_valid(parse_harwell_boeing<double>(t, "text")); });
  const TemporaryFile file(".npz");
  const auto a = random_csr<float>(6, 6, 2, 8);
  for (const Compression c : {Compression::Stored, Compression::Deflated}) {
    write_npz(file.path(), a, c);
    std::ifstream in(file.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    fuzz(bytes, 700, [&](const std::string& t) {
      std::ofstream(file.path(), std::ios::binary) << t;
      expect_valid(read_npz<float>(file.path()));
    });
  }
}

}  // namespace
}  // namespace trn::sparse
