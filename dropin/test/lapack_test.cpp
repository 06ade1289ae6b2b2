// The drop-in LAPACK where the testers do not look: the program's own xerbla_, every pair of jobs of gesvd beyond the
// order where divide and conquer divides, workspaces of the older routines' sizes, info numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <string>
#include <vector>

using Complex = std::complex<double>;

extern "C" {
void dpotrf_(const char*, const int*, double*, const int*, int*, std::size_t);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void dgesvd_(const char*, const char*, const int*, const int*, double*, const int*, double*, double*, const int*,
             double*, const int*, double*, const int*, int*, std::size_t, std::size_t);
void zheev_(const char*, const char*, const int*, Complex*, const int*, double*, Complex*, const int*, double*, int*,
            std::size_t, std::size_t);
void dsygv_(const int*, const char*, const char*, const int*, double*, const int*, double*, const int*, double*,
            double*, const int*, int*, std::size_t, std::size_t);

std::string last_routine;
int last_position = 0;
void xerbla_(const char* routine, const int* position, std::size_t length) {
  last_routine.assign(routine, length), last_position = *position;
}
}

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
double number(int i) { return std::sin(1.0 + 3.7 * i) + std::cos(0.3 * i * i); }

TEST(DropinLapack, CallsTheProgramsErrorHandler) {
  std::vector<double> a(16, 1.0), s(4), work(1);
  int n = 4, lda = 2, info = 0, one = 1;
  dpotrf_("L", &n, a.data(), &lda, &info, 1);
  EXPECT_TRUE(info == -4 && last_position == 4 && last_routine.starts_with("DPOTRF")) << info << last_routine;
  dpotrf_("X", &n, a.data(), &n, &info, 1);
  EXPECT_TRUE(info == -1 && last_position == 1);
  dgesvd_("Q", "N", &n, &n, a.data(), &n, s.data(), a.data(), &one, a.data(), &one, work.data(), &one, &info, 1, 1);
  EXPECT_TRUE(info == -1 && last_position == 1 && last_routine.starts_with("DGESVD")) << info << last_routine;
  dgesvd_("N", "N", &n, &n, a.data(), &n, s.data(), a.data(), &one, a.data(), &one, work.data(), &one, &info, 1, 1);
  EXPECT_EQ(info, -13);  // workspace of one element
  for (const double x : a) EXPECT_EQ(x, 1);
}

TEST(DropinLapack, InfoNumbers) {
  std::vector<double> a{1, 2, 2, 1};  // eigenvalues 3 and -1
  int n = 2, info = 0;
  std::vector<int> pivots(2);
  dpotrf_("U", &n, a.data(), &n, &info, 1);
  EXPECT_EQ(info, 2);
  a = {1, 2, 2, 4};
  dgetrf_(&n, &n, a.data(), &n, pivots.data(), &info);
  EXPECT_EQ(info, 2);
  EXPECT_EQ(pivots[0], 2);
  const int type = 1, order = 40, lwork = 3 * order;
  std::vector<double> x(at(order * order)), b(x), w(at(order)), work(at(lwork));
  for (int i = 0; i < order; ++i) x[at(i * order + i)] = i, b[at(i * order + i)] = i == 30 ? -1 : 1;
  dsygv_(&type, "V", "L", &order, x.data(), &order, b.data(), &order, w.data(), work.data(), &lwork, &info, 1, 1);
  EXPECT_EQ(info, order + 31);
}

// A = U S V^T for all pairs of jobs, tall and wide; what is not asked for is not touched.
void every_job(const std::vector<std::pair<int, int>>& shapes) {
  for (const auto& [m, n] : shapes) {
    const int k = std::min(m, n), lda = m + 3, ldu = m + 1, ldv = n + 2, lwork = 5 * (m + n);
    std::vector<double> a(at(lda * n), 7.0), reference;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) a[at(j * lda + i)] = number(i * 50 + j);
    }
    for (const char ju : {'A', 'S', 'O', 'N'}) {
      for (const char jv : {'A', 'S', 'O', 'N'}) {
        if (ju == 'O' && jv == 'O') continue;
        SCOPED_TRACE(::testing::Message() << m << " x " << n << ' ' << ju << jv);
        std::vector<double> x = a, s(at(k)), u(at(ldu * m), -5.0), v(at(ldv * n), -5.0), work(at(lwork));
        int info = -99;
        dgesvd_(&ju, &jv, &m, &n, x.data(), &lda, s.data(), u.data(), &ldu, v.data(), &ldv, work.data(), &lwork, &info,
                1, 1);
        ASSERT_EQ(info, 0);
        EXPECT_GE(work[0], 1);
        if (reference.empty()) reference = s;
        for (int i = 0; i < k; ++i) EXPECT_NEAR(s[at(i)], reference[at(i)], 1e-12);
        for (int j = 0; j < n; ++j) {
          for (int i = m; i < lda; ++i) EXPECT_EQ(x[at(j * lda + i)], 7);
        }
        const double *left = ju == 'O' ? x.data() : u.data(), *right = jv == 'O' ? x.data() : v.data();
        const int left_ld = ju == 'O' ? lda : ldu, right_ld = jv == 'O' ? lda : ldv;
        const int columns = ju == 'A' ? m : ju == 'S' ? k : 0, rows = jv == 'A' ? n : jv == 'S' ? k : 0;
        for (int j = 0; j < m; ++j) {  // columns behind those asked for
          for (int i = 0; i < ldu; ++i) {
            if (i >= m || j >= columns) {
              EXPECT_EQ(u[at(j * ldu + i)], -5);
            }
          }
        }
        for (int j = 0; j < n; ++j) {
          for (int i = rows; i < ldv; ++i) EXPECT_EQ(v[at(j * ldv + i)], -5);
        }
        if (ju != 'N') {  // orthonormal columns, and with V the product
          for (int p = 0; p < k; ++p) {
            for (int q = 0; q <= p; ++q) {
              long double dot = 0;
              for (int i = 0; i < m; ++i)
                dot += static_cast<long double>(left[p * left_ld + i]) * left[q * left_ld + i];
              EXPECT_NEAR(static_cast<double>(dot), p == q, 1e-13);
            }
          }
        }
        if (ju == 'N' || jv == 'N') continue;
        for (int i = 0; i < m; ++i) {
          for (int j = 0; j < n; ++j) {
            long double sum = 0;
            for (int p = 0; p < k; ++p)
              sum += static_cast<long double>(left[p * left_ld + i]) * s[at(p)] * right[j * right_ld + p];
            EXPECT_NEAR(static_cast<double>(sum), a[at(j * lda + i)], 1e-11);
          }
        }
      }
    }
  }
}

TEST(DropinLapack, SingularValuesForEveryJob) { every_job({{45, 30}, {30, 45}, {33, 33}, {10, 8}}); }
// The suite runs this one on a simulated device, too: more than one of its leaves.
TEST(DropinLapack, SingularValuesOfASmallMatrix) { every_job({{18, 17}}); }

// With the least workspace of heev, which heevd could not work with.
TEST(DropinLapack, EigenvaluesWithTheOlderWorkspace) {
  const int n = 40, lda = n + 1, lwork = 2 * n - 1;
  for (const char uplo : {'L', 'U'}) {
    std::vector<Complex> a(at(lda * n), Complex(7, 7)), work(at(lwork));
    std::vector<double> w(at(n)), rwork(at(3 * n));
    std::vector<Complex> full(at(n * n));
    for (int j = 0; j < n; ++j) {
      for (int i = j; i < n; ++i) {
        const Complex x(number(i * 41 + j), i == j ? 0 : number(i + 77 * j));
        full[at(j * n + i)] = x, full[at(i * n + j)] = std::conj(x);
        (uplo == 'L' ? a[at(j * lda + i)] : a[at(i * lda + j)]) = uplo == 'L' ? x : std::conj(x);
      }
    }
    int info = -99;
    zheev_("V", &uplo, &n, a.data(), &lda, w.data(), work.data(), &lwork, rwork.data(), &info, 1, 1);
    ASSERT_EQ(info, 0);
    EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        std::complex<long double> sum = 0;
        for (int k = 0; k < n; ++k)
          sum += std::complex<long double>(full[at(k * n + i)]) * std::complex<long double>(a[at(j * lda + k)]);
        sum -= static_cast<long double>(w[at(j)]) * std::complex<long double>(a[at(j * lda + i)]);
        EXPECT_LT(std::abs(sum), 1e-12L * n);
      }
      EXPECT_EQ(a[at(j * lda + n)], Complex(7, 7));
    }
  }
}

}  // namespace
