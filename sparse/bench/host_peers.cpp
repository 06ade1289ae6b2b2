// Our host operations beside Eigen's in one process, taking turns, on a matrix from a file; compare.py runs it and adds
// the peers that Python has. usage: sparse_host_peers OPERATION FILE.npz [--wall]
//
// OPERATION: spmv, spmm (32 columns, row-major), spgemm (A A; sorted rows on both sides), csr2csc, amg (ours alone:
// set-up, then conjugate gradients to 1e-8 on b of ones). Prints one line of JSON: seconds, the least of many rounds,
// of processor time of the whole process or of the wall's clock.
#include <Eigen/SparseCore>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <trn/sparse/amg.hpp>
#include <trn/sparse/npz.hpp>
#include <trn/sparse/spgemm.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/sparse/structure.hpp>

using namespace trn;
using namespace trn::sparse;

namespace {

using EigenCsr = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
bool by_the_wall = false;
volatile std::int64_t kept = 0;  // of a result, so that it is computed

double now() {
  if (by_the_wall) return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
template <class F> double once(const F& f) {
  const double begin = now();
  f();
  return now() - begin;
}

// The least time of each of two calls that take turns for about `seconds`, 3 rounds at least.
template <class F, class G> std::pair<double, double> in_turns(double seconds, const F& ours, const G& theirs) {
  ours(), theirs();
  double a = 1e30, b = 1e30, spent = 0;
  for (int round = 0; round < 3 || spent < seconds; ++round) {
    const double x = once(ours), y = once(theirs);
    a = std::min(a, x), b = std::min(b, y), spent += x + y;
  }
  return {a, b};
}

std::vector<double> numbers(std::int64_t count) {
  std::vector<double> v(static_cast<std::size_t>(count));
  std::uint64_t state = 7;
  for (double& x : v) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    x = static_cast<double>(state >> 11) * 0x1p-52 - 1;
  }
  return v;
}

// Iterations of preconditioned conjugate gradients until ||b - A x|| <= 1e-8 ||b||, x = 0 at first.
int iterations(const Csr<double>& a, const Amg<double>& m) {
  const SparseOperator<double> op(a.executor(), a);
  const auto n = static_cast<std::size_t>(a.rows());
  std::vector<double> x(n, 0), r(n, 1), z(n), p(n), q(n);
  const auto column = [&](std::vector<double>& v) {
    return MatrixView<double>(a.executor(), v.data(), a.rows(), 1, 1, 1);
  };
  const auto dot = [&](const std::vector<double>& u, const std::vector<double>& v) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += u[i] * v[i];
    return sum;
  };
  const double limit = 1e-8 * std::sqrt(dot(r, r));
  m.apply(Op::N, 1, column(r), 0, column(z));
  p = z;
  double rz = dot(r, z);
  int count = 0;
  while (count < 500) {
    ++count;
    op.apply(Op::N, 1, column(p), 0, column(q));
    const double step = rz / dot(p, q);
    for (std::size_t i = 0; i < n; ++i) x[i] += step * p[i], r[i] -= step * q[i];
    if (std::sqrt(dot(r, r)) <= limit) break;
    m.apply(Op::N, 1, column(r), 0, column(z));
    const double next = dot(r, z), beta = next / rz;
    rz = next;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
  }
  return count;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return std::fprintf(stderr, "usage: sparse_host_peers OPERATION FILE.npz [--wall]\n"), 2;
  by_the_wall = count > 3 && std::strcmp(arguments[3], "--wall") == 0;
  const std::string operation = arguments[1];
  const Csr<double> a = read_npz<double>(arguments[2]);
  const Executor& host = a.executor();
  std::string detail;
  std::pair<double, double> seconds{0, 0};
  if (operation == "amg") {
    std::optional<Amg<double>> m;
    double least = 1e30, solve = 1e30;
    for (int round = 0; round < 5; ++round) least = std::min(least, once([&] { m.emplace(a); }));
    int steps = 0;
    for (int round = 0; round < 3; ++round) solve = std::min(solve, once([&] { steps = iterations(a, *m); }));
    std::printf("{\"ours\": %.6g, \"solve\": %.6g, \"iterations\": %d, \"levels\": %zu, \"complexity\": %.4g}\n", least,
                solve, steps, m->levels().size(), m->operator_complexity());
    return 0;
  }
  EigenCsr e(a.rows(), a.columns());
  e.resizeNonZeros(a.nnz());
  std::copy_n(a.pattern().offsets().data(), a.rows() + 1, e.outerIndexPtr());
  std::copy_n(a.pattern().indices().data(), a.nnz(), e.innerIndexPtr());
  std::copy_n(a.values().data(), a.nnz(), e.valuePtr());
  if (operation == "spmv" || operation == "spmm") {
    const std::int64_t n = operation == "spmv" ? 1 : 32;
    const SpmmPlan<double> plan(host, a, {.columns = n});
    detail = name(plan.report().kernel);
    const std::vector<double> x = numbers(a.columns() * n);
    std::vector<double> y(static_cast<std::size_t>(a.rows() * n));
    const MatrixView<const double> xv(host, x.data(), a.columns(), n, n, 1);
    const MatrixView<double> yv(host, y.data(), a.rows(), n, n, 1);
    using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Dense ex = Eigen::Map<const Dense>(x.data(), a.columns(), n);
    const Eigen::VectorXd ev = Eigen::Map<const Eigen::VectorXd>(x.data(), n == 1 ? a.columns() : 0);
    Dense ey(a.rows(), n);
    Eigen::VectorXd eyv(a.rows());
    const auto ours = [&] { plan.execute(1, xv, 0, yv); };
    seconds = n == 1 ? in_turns(1.0, ours, [&] { eyv.noalias() = e * ev; })
                     : in_turns(1.0, ours, [&] { ey.noalias() = e * ex; });
  } else if (operation == "spgemm") {
    seconds = in_turns(
        1.5, [&] { (void)spgemm<double>(host, 1, a, a); },
        [&] {
          const EigenCsr c = e * e;
          kept = c.nonZeros();
        });
    detail = "gustavson";
  } else if (operation == "csr2csc") {
    seconds = in_turns(
        1.0, [&] { (void)transpose(a); },
        [&] {
          const Eigen::SparseMatrix<double, Eigen::ColMajor, int> c = e;
          kept = c.nonZeros();
        });
    detail = "counting";
  } else {
    return std::fprintf(stderr, "sparse_host_peers: '%s' is not an operation\n", operation.c_str()), 2;
  }
  std::printf("{\"ours\": %.6g, \"eigen\": %.6g, \"kernel\": \"%s\"}\n", seconds.first, seconds.second, detail.c_str());
}
