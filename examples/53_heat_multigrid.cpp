// The heat equation u_t = Laplace(u) on a square with cold sides, by Crank-Nicolson steps solved with multigrid in
// progressive precision: corrections in bfloat16, residuals in float and at last in float64.
//
//   A U' = 2 U - A U,  A U = U - c (T U + U T),  T = tridiag(1, -2, 1) of order n,  c = dt/(2 h^2),  h = 1/(n + 1)
//
// A field is an n x n matrix, so that everything between neighbours is a product of matrices: T U and U T, restriction
// W R W^T with the rows 1/4 (1 2 1), interpolation 4 W^T E W. Those run on the executor; additions are made here. A V
// cycle has two damped Jacobi steps on either side and coarser grids down to one point, each with c/4.
//
// Around it there is iterative refinement: r = F - A U, U = U + cycle(r), U in float64. A cycle has to give a few bits
// of the correction, so its fields may be bfloat16 on every grid: T and W are exact there, products are summed in
// float, and what roundings leave is rough, which the next smoothing removes. The residual is computed in float as long
// as it is larger than what float may get wrong, and then in float64 (on a device Exact).
//
// What is checked: sines are eigenvectors of A, so that the exact solution of the discrete equations is known. With
// ||r|| <= tol ||F|| at each step and A >= 1 the error after s steps is at most s tol ||F||, and that is asked. Against
// the exact solution of the heat equation itself the error falls with h^2 (dt = h/2), in two runs. Cycles in bfloat16
// may need a tenth more than those in float64, and must move half of the bytes at most.
//
//   53_heat_multigrid [--exec NAME] [--n 63] [--steps 4] [--ratio 0.5] [--tolerance 1e-12] [--figure FILE.svg]
//
// The ratio is dt/h.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include <trn/trn.hpp>

#include "arguments.hpp"
#include "figure.hpp"

namespace {

template <class T> using Accumulated = std::conditional_t<std::is_same_v<T, double>, double, float>;

// The products of one grid with fields stored as T, additions here in Accumulated<T>; `bytes` counts the fields that
// products read and write.
template <class T> class Products {
 public:
  using Acc = Accumulated<T>;
  Products(const trn::Executor& exec, std::int64_t n)
      : exec_(exec), n_(n), coarse_(n / 2), t_(exec, n, n), w_(exec, std::max<std::int64_t>(coarse_, 1), n) {
    std::vector<T> t(static_cast<std::size_t>(n * n), T(0.0f)), w(static_cast<std::size_t>(w_.rows() * n), T(0.0f));
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j <= std::min(i + 1, n - 1); ++j)
        t[static_cast<std::size_t>(i * n + j)] = T(i == j ? -2.0f : 1.0f);
    }
    for (std::int64_t i = 0; i < coarse_; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) w[static_cast<std::size_t>(i * n + 2 * i + j)] = T(j == 1 ? 0.5f : 0.25f);
    }
    t_ = trn::Matrix<T>::from_host(exec, n, n, t);
    w_ = trn::Matrix<T>::from_host(exec, w_.rows(), n, w);
  }

  // T U + U T.
  [[nodiscard]] std::vector<Acc> laplace(const std::vector<Acc>& u, double& bytes) const {
    const auto field = stored(u, n_);
    const trn::Matrix<T> sum(exec_, n_, n_);
    multiply(trn::blas::Op::N, t_, trn::blas::Op::N, field, 0, sum);
    multiply(trn::blas::Op::N, field, trn::blas::Op::N, t_, 1, sum);
    count(bytes, 5 * n_ * n_);  // U twice, the sum written, read and written
    return taken(sum);
  }
  // W R W^T.
  [[nodiscard]] std::vector<Acc> restricted(const std::vector<Acc>& r, double& bytes) const {
    const trn::Matrix<T> half(exec_, coarse_, n_), whole(exec_, coarse_, coarse_);
    multiply(trn::blas::Op::N, w_, trn::blas::Op::N, stored(r, n_), 0, half);
    multiply(trn::blas::Op::N, half, trn::blas::Op::T, w_, 0, whole);
    count(bytes, n_ * n_ + 2 * coarse_ * n_ + coarse_ * coarse_);
    return taken(whole);
  }
  // 4 W^T E W.
  [[nodiscard]] std::vector<Acc> interpolated(const std::vector<Acc>& e, double& bytes) const {
    const trn::Matrix<T> half(exec_, n_, coarse_), whole(exec_, n_, n_);
    multiply(trn::blas::Op::T, w_, trn::blas::Op::N, stored(e, coarse_), 0, half);
    multiply(trn::blas::Op::N, half, trn::blas::Op::N, w_, 0, whole);
    count(bytes, n_ * n_ + 2 * coarse_ * n_ + coarse_ * coarse_);
    std::vector<Acc> fine = taken(whole);
    for (Acc& x : fine) x *= 4;
    return fine;
  }
  // What a field becomes when it is stored.
  [[nodiscard]] static std::vector<Acc> rounded(std::vector<Acc> u) {
    for (Acc& x : u) x = static_cast<Acc>(static_cast<T>(x));
    return u;
  }

 private:
  [[nodiscard]] trn::Matrix<T> stored(const std::vector<Acc>& u, std::int64_t rows) const {
    std::vector<T> narrow;
    for (const Acc x : u) narrow.push_back(static_cast<T>(x));
    return trn::Matrix<T>::from_host(exec_, rows, static_cast<std::int64_t>(u.size()) / rows, narrow);
  }
  [[nodiscard]] static std::vector<Acc> taken(const trn::Matrix<T>& field) {
    const std::vector<T> values = field.to_host();
    return {values.begin(), values.end()};
  }
  void multiply(trn::blas::Op op_a, const trn::Matrix<T>& a, trn::blas::Op op_b, const trn::Matrix<T>& b, Acc beta,
                const trn::Matrix<T>& c) const {
    // A device has no float64: Exact.
    const bool exact = std::is_same_v<T, double> && exec_.family() == trn::Family::Device;
    trn::blas::gemm(exec_, op_a, op_b, Acc(1), a.view(), b.view(), beta, c.view(),
                    {.precision = exact ? trn::Mode::Exact : trn::Mode::Native});
  }
  static void count(double& bytes, std::int64_t elements) { bytes += static_cast<double>(elements) * sizeof(T); }

  trn::Executor exec_;
  std::int64_t n_, coarse_;
  trn::Matrix<T> t_, w_;
};

// Precision of the cycles. Progressive: cycles in bfloat16, residuals in float as long as that is enough.
enum class Plan { Double, Float, Bfloat, Progressive };
constexpr Plan kPlans[] = {Plan::Double, Plan::Float, Plan::Bfloat, Plan::Progressive};

const char* name(Plan plan) {
  return plan == Plan::Double   ? "float64"
         : plan == Plan::Float  ? "float32"
         : plan == Plan::Bfloat ? "bfloat16"
                                : "progressive";
}

struct Grid {
  std::int64_t n;
  double c;
  Products<double> wide;
  Products<float> middle;
  Products<trn::bfloat16> narrow;
  template <class T> [[nodiscard]] const Products<T>& products() const {
    if constexpr (std::is_same_v<T, double>)
      return wide;
    else if constexpr (std::is_same_v<T, float>)
      return middle;
    else
      return narrow;
  }
};

struct Counts {
  int cycles = 0, wide_residuals = 0;  // residuals in float64
  double bytes = 0;                    // of all fields in products
  // Of the first step: residuals relative to F, and the bytes moved until each was known.
  std::vector<double> residuals, moved;
};

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

class Solver {
 public:
  Solver(const trn::Executor& exec, std::int64_t n, double c, Plan plan) : plan_(plan) {
    for (; n >= 1; n /= 2, c /= 4) grids_.push_back({n, c, {exec, n}, {exec, n}, {exec, n}});
  }

  // F - A U on the finest grid, computed in T.
  template <class T>
  [[nodiscard]] std::vector<double> residual(const std::vector<double>& f, const std::vector<double>& u) {
    const auto laplace = grids_.front().products<T>().laplace({u.begin(), u.end()}, counts_.bytes);
    std::vector<double> r = f;
    for (std::size_t i = 0; i < r.size(); ++i) r[i] += grids_.front().c * static_cast<double>(laplace[i]) - u[i];
    if (std::is_same_v<T, double>) ++counts_.wide_residuals;
    return r;
  }
  // A U = F from the U at hand. Throws when it does not converge.
  void solve(const std::vector<double>& f, std::vector<double>& u, double tolerance) {
    const double size = norm(f);
    // Rounding U to float, two products and their sum: each within 2^-24 of terms that are at most 8 c ||U|| together.
    // A residual 16 times as large has a few right bits, as many as a cycle uses.
    const double float_is_enough = 16 * 4 * 0x1p-24 * 8 * grids_.front().c * norm(u) / size;
    const bool first = counts_.residuals.empty();
    bool narrow = plan_ == Plan::Progressive;
    for (int i = 0;; ++i) {
      std::vector<double> r = narrow ? residual<float>(f, u) : residual<double>(f, u);
      double now = norm(r) / size;
      if (narrow && !(now > float_is_enough)) {
        narrow = false;
        r = residual<double>(f, u);
        now = norm(r) / size;
      }
      if (first) counts_.residuals.push_back(now), counts_.moved.push_back(counts_.bytes);
      if (!narrow && now <= tolerance) return;
      trn::require(i < 60 && now < 1e30, "multigrid: residual {} after {} cycles", now, i);
      if (plan_ == Plan::Double)
        add(u, cycle<double>(0, r));
      else if (plan_ == Plan::Float)
        add(u, cycle<float>(0, {r.begin(), r.end()}));
      else
        add(u, cycle<trn::bfloat16>(0, {r.begin(), r.end()}));
      ++counts_.cycles;
    }
  }
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  template <class E> static void add(std::vector<double>& u, const std::vector<E>& e) {
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += static_cast<double>(e[i]);
  }

  // An approximate solution E of A E = F on a grid.
  template <class T>
  [[nodiscard]] std::vector<Accumulated<T>> cycle(std::size_t level, const std::vector<Accumulated<T>>& f) {
    using Acc = Accumulated<T>;
    const Grid& g = grids_[level];
    const Products<T>& products = g.products<T>();
    const auto c = static_cast<Acc>(g.c), damping = g.n == 1 ? Acc(1) : Acc(0.8);
    std::vector<Acc> u(f.size(), Acc(0)), r = f;
    const auto smooth = [&] {
      for (std::size_t i = 0; i < u.size(); ++i) u[i] += damping / (1 + 4 * c) * r[i];
      u = Products<T>::rounded(std::move(u));
    };
    const auto renew = [&] {
      r = products.laplace(u, counts_.bytes);
      for (std::size_t i = 0; i < r.size(); ++i) r[i] = f[i] - u[i] + c * r[i];
    };
    smooth();  // r = f as long as u = 0
    if (g.n == 1) return u;
    renew();
    smooth();
    renew();
    const auto correction =
        products.interpolated(cycle<T>(level + 1, products.restricted(r, counts_.bytes)), counts_.bytes);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += correction[i];
    u = Products<T>::rounded(std::move(u));
    for (int i = 0; i < 2; ++i) renew(), smooth();
    return u;
  }

  Plan plan_;
  std::vector<Grid> grids_;
  Counts counts_;
};

struct Wave {
  std::int64_t k, l;
  double amplitude;
};

// sum of amplitude * factor(k, l) sin(k pi x) sin(l pi y) on the inner points.
template <class F> std::vector<double> field(std::int64_t n, const std::vector<Wave>& waves, const F& factor) {
  std::vector<double> u(static_cast<std::size_t>(n * n), 0);
  const double h = 1 / static_cast<double>(n + 1);
  for (const Wave& w : waves) {
    const double a = w.amplitude * factor(static_cast<double>(w.k), static_cast<double>(w.l));
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j)
        u[static_cast<std::size_t>(i * n + j)] += a *
                                                  std::sin(static_cast<double>(w.k * (i + 1)) * h * std::numbers::pi) *
                                                  std::sin(static_cast<double>(w.l * (j + 1)) * h * std::numbers::pi);
    }
  }
  return u;
}

struct Outcome {
  Counts counts;
  double off_discrete, bound, off_heat, modelled;
};

Outcome run(const trn::Executor& exec, Plan plan, std::int64_t n, std::int64_t steps, double tolerance, double ratio,
            const std::vector<Wave>& waves) {
  const double h = 1 / static_cast<double>(n + 1), dt = ratio * h, pi = std::numbers::pi;
  const trn::Recorder recorder(exec);
  Solver solver(exec, n, dt / (2 * h * h), plan);
  std::vector<double> u = field(n, waves, [](double, double) { return 1.0; });
  double bound = 0;
  for (std::int64_t s = 0; s < steps; ++s) {
    // F = 2 U - A U: the residual with 2 U for F.
    std::vector<double> f = u;
    for (double& x : f) x *= 2;
    f = solver.residual<double>(f, u);
    solver.solve(f, u, tolerance);
    bound += tolerance * norm(f);
  }
  // Each step multiplies a sine by (1 - dt/2 lambda)/(1 + dt/2 lambda), with
  //   lambda = 4/h^2 (sin^2(k pi h/2) + sin^2(l pi h/2)).
  const auto discrete = field(n, waves, [&](double k, double l) {
    const double lambda = 4 / (h * h) * (std::pow(std::sin(k * pi * h / 2), 2) + std::pow(std::sin(l * pi * h / 2), 2));
    return std::pow((1 - dt / 2 * lambda) / (1 + dt / 2 * lambda), static_cast<double>(steps));
  });
  const auto heat = field(n, waves, [&](double k, double l) {
    return std::exp(-(k * k + l * l) * pi * pi * dt * static_cast<double>(steps));
  });
  std::vector<double> difference = u;
  double off_heat = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    difference[i] -= discrete[i];
    off_heat = std::max(off_heat, std::abs(u[i] - heat[i]));
  }
  // Roundings of residuals in float64: a few u times ||A|| = 1 + 8 c per step.
  bound += static_cast<double>(steps) * 0x1p-50 * (1 + 4 * dt / (h * h)) * norm(discrete);
  trn::require(recorder.family_of("blas.gemm") == trn::name(exec.family()), "products did not run on {}", exec.name());
  return {solver.counts(), norm(difference), bound, off_heat, recorder.modelled_seconds()};
}

int program(int argc, char** argv) {
  const example::Arguments arguments(argc, argv,
                                     {{"--exec", "host"},
                                      {"--n", "63"},
                                      {"--steps", "4"},
                                      {"--ratio", "0.5"},
                                      {"--tolerance", "1e-12"},
                                      {"--figure", ""}});
  const auto exec = trn::Executor::open(arguments.text("--exec"));
  const std::int64_t n = arguments.whole("--n", 7, 1023), steps = arguments.whole("--steps", 1, 1000);
  trn::require(((n + 1) & n) == 0, "53_heat_multigrid: --n {}; give 2^k - 1", n);
  const double tolerance = arguments.number("--tolerance"), ratio = arguments.number("--ratio");
  const std::vector<Wave> start{{1, 1, 1}, {2, 3, 0.5}, {5, 4, 0.25}, {n - 2, n - 4, 0.1}};
  std::printf("heat equation, %lld x %lld points, %lld steps to %.0e on %s\n", static_cast<long long>(n),
              static_cast<long long>(n), static_cast<long long>(steps), tolerance, exec.name().c_str());
  std::printf(
      "cycles in    cycles  float64 residuals  error of the discrete solution (bound)  MB of fields  modelled ms\n");
  bool right = true;
  double bytes[4] = {};
  int cycles[4] = {};
  std::vector<example::Series> lines;
  for (const Plan plan : kPlans) {
    const Outcome o = run(exec, plan, n, steps, tolerance, ratio, start);
    std::printf("%-11s  %6d  %17d  %19.1e (%.1e)  %19.2f  %11.2f\n", name(plan), o.counts.cycles,
                o.counts.wide_residuals, o.off_discrete, o.bound, o.counts.bytes * 1e-6, o.modelled * 1e3);
    right = right && o.off_discrete <= o.bound && (o.modelled > 0) == (exec.family() == trn::Family::Device);
    bytes[static_cast<int>(plan)] = o.counts.bytes;
    cycles[static_cast<int>(plan)] = o.counts.cycles;
    example::Series line{std::string("cycles in ") + name(plan), {}, {}};
    if (plan == Plan::Progressive) line.name = "progressive", line.dashed = true;
    for (std::size_t i = 0; i < o.counts.residuals.size(); ++i)
      line.x.push_back(o.counts.moved[i] * 1e-6), line.y.push_back(o.counts.residuals[i]);
    lines.push_back(line);
  }
  std::printf("progressive precision moves %.2f of the bytes of float64\n", bytes[3] / bytes[0]);
  right = right && bytes[3] <= 0.5 * bytes[0] && cycles[3] <= 1.1 * cycles[0] + 1;
  // Smooth waves, half the time step and twice the points: second order. Below 31 points the order does not show yet.
  if (n >= 31) {
    const std::vector<Wave> smooth{{1, 1, 1}, {2, 1, 0.25}};
    const double coarse = run(exec, Plan::Progressive, n / 2, steps, tolerance, 0.5, smooth).off_heat,
                 fine = run(exec, Plan::Progressive, n, 2 * steps, tolerance, 0.5, smooth).off_heat;
    std::printf("error of the heat equation: %.2e with %lld points a side, %.2e with %lld: a factor of %.2f\n", coarse,
                static_cast<long long>(n / 2), fine, static_cast<long long>(n), coarse / fine);
    right = right && coarse / fine > 3.6 && coarse / fine < 4.4;
  }
  if (!arguments.text("--figure").empty())
    example::draw(arguments.text("--figure"), "Residual of one Crank-Nicolson step, cycle by cycle",
                  {"MB of fields read and written"}, {"residual / right-hand side", example::Scale::Log10}, lines);
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return example::guarded([&] { return program(argc, argv); });
}
