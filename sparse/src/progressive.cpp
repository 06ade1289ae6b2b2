// Cycles in narrow words, residuals in wide ones.
#include <trn/sparse/progressive.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <trn/core/enumerators.hpp>
#include <trn/core/float_types.hpp>
#include <trn/sparse/structure.hpp>

#include "amg_data.hpp"
#include "checks.hpp"
#include "operators.hpp"

namespace trn::sparse {

namespace {

using Vector = std::vector<double>;

double rounded(CycleWords words, double x) {
  switch (words) {
    case CycleWords::Bf16:
      return static_cast<float>(bfloat16(static_cast<float>(x)));
    case CycleWords::Tf32:
      return static_cast<float>(tfloat32(static_cast<float>(x)));
    case CycleWords::Float:
      return static_cast<double>(static_cast<float>(x));
    case CycleWords::Double:
      break;
  }
  return x;
}
double word_bytes(CycleWords words) { return words == CycleWords::Double ? 8 : words == CycleWords::Bf16 ? 2 : 4; }
Mode mode_of(CycleWords words) {
  return words == CycleWords::Bf16 ? Mode::Bf16 : words == CycleWords::Tf32 ? Mode::Tf32 : Mode::Native;
}

double norm_of(const Vector& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

// y = M x with M's elements in words. Products of two words are exact in float, which sums them (double sums its own).
class Product {
 public:
  Product(const Csr<double>& m, CycleWords words, const Executor& executor) {
    const std::span<const double> given(m.values().data(), static_cast<std::size_t>(m.nnz()));
    bytes_ = static_cast<double>(m.nnz()) * (word_bytes(words) + 4) +
             static_cast<double>(m.rows() + m.columns()) * word_bytes(words);
    if (words == CycleWords::Double) {
      wide_.emplace(Executor::host(), m);
      return;
    }
    std::vector<float> values(given.size());
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(rounded(words, given[k]));
    const Csr<float> narrow(m.pattern(), VectorView<const float>(Executor::host(), values.data(), m.nnz()));
    const bool device = executor.family() == Family::Device;
    narrow_.emplace(executor, narrow.to(executor),
                    SpmmOptions{.precision = device ? Precision(mode_of(words)) : Precision()});
    x_.emplace(executor, Shape{m.columns()}), y_.emplace(executor, Shape{m.rows()});
    if (!device) return;
    host_.resize(static_cast<std::size_t>(std::max(m.rows(), m.columns())));
  }

  // x must be in words already, but for those of Double; y has the product's size.
  void operator()(const Vector& x, Vector& y, double& bytes) const {
    bytes += bytes_;
    const auto in = static_cast<std::int64_t>(x.size());
    if (wide_) {
      wide_->execute(1, MatrixView<const double>(Executor::host(), x.data(), in, 1, 1, 1), 0,
                     MatrixView<double>(Executor::host(), y.data(), wide_->rows(), 1, 1, 1));
      return;
    }
    const Executor& e = narrow_->executor();
    const std::int64_t out = narrow_->rows();
    const bool device = !host_.empty();
    float *from = device ? host_.data() : x_->data(), *to = device ? host_.data() : y_->data();
    for (std::size_t i = 0; i < x.size(); ++i) from[i] = static_cast<float>(x[i]);
    if (device) copy(View<const float>(Executor::host(), from, {in}), x_->view());
    narrow_->execute(1, MatrixView<const float>(e, x_->data(), in, 1, 1, 1), 0,
                     MatrixView<float>(e, y_->data(), out, 1, 1, 1));
    if (device) copy(View<const float>(e, y_->data(), {out}), View<float>(Executor::host(), to, {out}));
    std::copy_n(to, out, y.begin());
  }

 private:
  double bytes_ = 0;
  std::optional<SpmmPlan<double>> wide_;
  std::optional<SpmmPlan<float>> narrow_;
  std::optional<Array<float>> x_, y_;
  mutable std::vector<float> host_;  // for a device
};

// A level in one kind of words.
struct WordLevel {
  Product a;
  std::optional<Product> p, r;  // none on the last level
  Vector inverse_diagonal;
};

// What a cycle needs on a level: its right-hand side (which becomes the residual), its result, a copy of the right-hand
// side, and room for directions and products.
struct Room {
  Vector r, x, b, c, product;
  explicit Room(std::int64_t rows) {
    for (Vector* v : {&r, &x, &b, &c, &product}) v->resize(static_cast<std::size_t>(rows));
  }
};

// s + e = a + b exactly.
void two_sum(double a, double b, double& s, double& e) {
  s = a + b;
  const double t = s - a;
  e = (a - (s - t)) + (b - t);
}

}  // namespace

std::string_view name(CycleWords words) {
  constexpr std::string_view names[] = {"bf16", "tf32", "float", "double"};
  return names[static_cast<int>(words)];
}

struct ProgressiveAmg::Data {
  std::shared_ptr<const detail::AmgAccess::Data> amg;
  ProgressiveOptions options;
  std::map<std::pair<std::size_t, CycleWords>, WordLevel> levels;
  mutable std::vector<Room> rooms;                   // of each level
  mutable Vector right, own, before, residual_room;  // of solve()
  double size = 0;                                   // at least || |A| ||_2
  std::int64_t longest = 0;

  [[nodiscard]] const Csr<double>& matrix() const { return amg->levels.front().matrix; }

  // x += and r -= A times `degree` steps of Chebyshev's iteration; the last does not renew r unless `renew` says so.
  void smooth(std::size_t l, CycleWords words, bool renew, double& bytes) const {
    Room& room = rooms[l];
    Vector &x = room.x, &r = room.r, &d = room.c, &ad = room.product;
    const WordLevel& level = levels.at({l, words});
    const double high = amg->levels[l].smoother->largest(), low = high / amg->smoother.ratio;
    const double centre = (high + low) / 2, half = (high - low) / 2;
    double rho = half / centre;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = level.inverse_diagonal[i] * r[i] / centre;
    for (int step = 0;; ++step) {
      for (std::size_t i = 0; i < d.size(); ++i) d[i] = rounded(words, d[i]), x[i] += d[i];
      const bool last = step + 1 == amg->smoother.degree;
      if (last && !renew) return;
      level.a(d, ad, bytes);
      for (std::size_t i = 0; i < d.size(); ++i) r[i] -= ad[i];
      if (last) return;
      const double next = 1 / (2 * centre / half - rho);
      for (std::size_t i = 0; i < d.size(); ++i)
        d[i] = next * rho * d[i] + 2 * next / half * level.inverse_diagonal[i] * r[i];
      rho = next;
    }
  }

  // A V-cycle for A_l x = r from zero, in the level's room.
  void cycle(std::size_t l, const CycleStage& stage, double& bytes) const {
    Room& room = rooms[l];
    Vector &x = room.x, &r = room.r;
    const CycleWords words = l == 0 ? stage.finest : stage.coarser;
    const AmgLevelData<double>& own = amg->levels[l];
    std::fill(x.begin(), x.end(), 0.0);
    if (l + 1 == amg->levels.size()) return own.separate.solve_last(amg->inverse, r.data(), x.data());
    const WordLevel& level = levels.at({l, words});
    Room& coarse = rooms[l + 1];
    const auto in_words = [&](Vector& v) {
      for (double& e : v) e = rounded(words, e);
    };
    std::copy(r.begin(), r.end(), room.b.begin());
    smooth(l, words, true, bytes);
    own.separate.solve(room.b.data(), x.data());
    for (const std::int32_t node : own.separate.nodes) {
      for (std::int64_t i = 0; i < own.separate.block; ++i)
        r[static_cast<std::size_t>(node * own.separate.block + i)] = 0;
    }
    std::copy(r.begin(), r.end(), room.b.begin());
    in_words(room.b);
    (*level.r)(room.b, coarse.r, bytes);
    cycle(l + 1, stage, bytes);
    in_words(coarse.x);
    (*level.p)(coarse.x, room.c, bytes);
    in_words(room.c);
    level.a(room.c, room.product, bytes);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += room.c[i], r[i] -= room.product[i];
    smooth(l, words, false, bytes);
  }

  void residual(const Vector& b, const Vector& x, bool wide, Vector& r) const {
    const CsrRef<double, std::int32_t> a = host_ref(matrix());
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double sum = b[static_cast<std::size_t>(i)], low = 0;
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        const double v = -a.values[k], z = x[static_cast<std::size_t>(a.indices[k])];
        const double product = v * z;
        if (wide) {
          double next = 0, e = 0;
          two_sum(sum, product, next, e);
          low += e + std::fma(v, z, -product);
          sum = next;
        } else {
          sum += product;
        }
      }
      r[static_cast<std::size_t>(i)] = sum + low;
    }
  }
};

ProgressiveAmg::ProgressiveAmg(const Amg<double>& amg, const ProgressiveOptions& o, const Executor& executor) {
  constexpr const char* operation = "sparse.progressive";
  require(o.tolerance >= 0 && o.tolerance < 1 && o.most_cycles >= 1 && o.slow > 0 && o.slow < 1,
          "{}: tolerance {} (0 to below 1), cycles {} (>= 1), slow {} (above 0, below 1)", operation, o.tolerance,
          o.most_cycles, o.slow);
  require(!o.stages.empty(), "{}: no stages; give at least one", operation);
  auto data = std::make_shared<Data>();
  data->amg = detail::AmgAccess::data(amg);
  data->options = o;
  const auto& levels = data->amg->levels;
  for (const CycleStage& stage : o.stages) {
    operands::check_enumerator(operation, "CycleWords", stage.finest, CycleWords::Double);
    operands::check_enumerator(operation, "CycleWords", stage.coarser, CycleWords::Double);
    for (std::size_t l = 0; l + 1 < levels.size() && data->amg->outcome.ok(); ++l) {
      const CycleWords words = l == 0 ? stage.finest : stage.coarser;
      if (data->levels.contains({l, words})) continue;
      const Executor& where = words == CycleWords::Double ? Executor::host() : executor;
      Vector inverse = diagonal(levels[l].matrix);
      for (double& d : inverse) d = 1 / d;
      data->levels.emplace(
          std::pair{l, words},
          WordLevel{Product(levels[l].matrix, words, where), Product(*levels[l].prolongation, words, where),
                    Product(*levels[l].restriction, words, where), std::move(inverse)});
    }
  }
  for (const auto& level : levels) data->rooms.emplace_back(level.n);
  for (Vector* v : {&data->right, &data->own, &data->before, &data->residual_room})
    v->resize(static_cast<std::size_t>(data->matrix().rows()));
  // || |A| ||_2^2 <= || |A| ||_1 || |A| ||_inf.
  const CsrRef<double, std::int32_t> a = host_ref(data->matrix());
  Vector columns(static_cast<std::size_t>(a.columns));
  double rows = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      sum += std::abs(a.values[k]);
      columns[static_cast<std::size_t>(a.indices[k])] += std::abs(a.values[k]);
    }
    rows = std::max(rows, sum);
    data->longest = std::max(data->longest, a.offsets[i + 1] - a.offsets[i]);
  }
  const double most = columns.empty() ? 0 : *std::max_element(columns.begin(), columns.end());
  data->size = std::sqrt(rows * most);
  data_ = std::move(data);
}

std::int64_t ProgressiveAmg::rows() const { return data_->matrix().rows(); }

ProgressiveResult ProgressiveAmg::solve(const VectorView<const double>& b, const VectorView<double>& x) const {
  constexpr const char* operation = "sparse.progressive.solve";
  const Executor host = Executor::host();
  checks::input(operation, "b", host, b);
  checks::output(operation, "x", host, x);
  require(b.size() == rows() && x.size() == rows(), "{}: b has {} elements, x {}; both must have {}", operation,
          b.size(), x.size(), rows());
  const layout::Dim in[] = {{b.size(), b.stride()}}, out[] = {{x.size(), x.stride()}};
  if (rows() > 0)
    operands::check_apart(operation, "b", {reinterpret_cast<std::uintptr_t>(b.data()), sizeof(double), in}, "x",
                          {reinterpret_cast<std::uintptr_t>(x.data()), sizeof(double), out});
  const Data& d = *data_;
  const ProgressiveOptions& o = d.options;
  const auto n = static_cast<std::size_t>(rows());
  Vector &right = d.right, &own = d.own, &before = d.before, &r = d.residual_room;
  for (std::size_t i = 0; i < n; ++i) {
    right[i] = b.data()[static_cast<std::int64_t>(i) * b.stride()];
    own[i] = x.data()[static_cast<std::int64_t>(i) * x.stride()];
  }
  const auto give = [&](const Vector& v) {
    for (std::size_t i = 0; i < n; ++i) x.data()[static_cast<std::int64_t>(i) * x.stride()] = v[i];
  };
  ProgressiveResult result{d.amg->outcome, false, 0, {}};
  if (!result.outcome.ok()) {
    result.residual = std::numeric_limits<double>::quiet_NaN();
    give(Vector(n, result.residual));
    return result;
  }
  const double size = norm_of(right);
  if (size == 0) {
    give(Vector(n));
    result.converged = true;
    return result;
  }
  result.cycles.reserve(static_cast<std::size_t>(std::min(o.most_cycles, 1000)));
  double last = 0;
  std::size_t stage = 0;
  bool wide = false;
  for (int c = 0;; ++c) {
    d.residual(right, own, wide, r);
    double now = norm_of(r) / size;
    const double double_error = static_cast<double>(d.longest + 2) * 0x1p-53 * d.size * norm_of(own) / size;
    if (!wide && (!(now > 16 * double_error) || now <= o.tolerance)) {
      wide = true;
      d.residual(right, own, true, r);
      now = norm_of(r) / size;
    }
    bool slow = c > 0 && !(now <= o.slow * last), end = false;
    if (wide) {
      // The residual is at the roundings of x, of which the error is a small part: the corrections measure it.
      const std::size_t k = result.cycles.size();
      const bool two = k >= 2 && result.cycles[k - 2].wide;
      const double ratio = two ? result.cycles[k - 1].error / result.cycles[k - 2].error : 0;
      slow = !(ratio <= o.slow);
      end = k >= 1 && (result.cycles[k - 1].error <= 0x1p-54 || (stage + 1 == o.stages.size() && !(ratio <= 0.9)));
    } else if (slow && !(now < last)) {
      result.cycles.back().kept = false;
      own = before, now = last;
      d.residual(right, own, false, r);
    }
    if (slow && stage + 1 < o.stages.size()) ++stage;
    if (end) {
      result.residual = now;
      result.converged = now <= o.tolerance || (o.tolerance == 0 && std::isfinite(now));
      break;
    }
    result.residual = now;
    if ((wide && now <= o.tolerance) || now == 0) {
      result.converged = true;
      break;
    }
    if (c == o.most_cycles || !std::isfinite(now)) break;
    before = own, last = now;
    // Scaled by a power of two, so that words neither overflow nor vanish.
    double largest = 0;
    for (const double v : r) largest = std::max(largest, std::abs(v));
    const int exponent = std::ilogb(largest);
    Room& top = d.rooms.front();
    for (std::size_t i = 0; i < n; ++i) top.r[i] = std::ldexp(r[i], -exponent);
    CycleReport report{o.stages[stage], wide, now, 0, true, 0};
    d.cycle(0, o.stages[stage], report.bytes);
    Vector& e = top.x;
    for (std::size_t i = 0; i < n; ++i) e[i] = std::ldexp(e[i], exponent), own[i] += e[i];
    const double length = norm_of(own);
    report.error = length > 0 ? norm_of(e) / length : 1;
    result.cycles.push_back(report);
  }
  give(own);
  return result;
}

}  // namespace trn::sparse
