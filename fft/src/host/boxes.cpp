// Which problems are boxes, and how their rows are laid out.
//
// Bound. As for passes over memory (body.cpp): the relative errors of the axes' transforms add.
#include "boxes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "../parallel.hpp"
#include "columns.hpp"
#include "schedule.hpp"

namespace trn::fft::host {

template <class T> std::int64_t BoxPlan<T>::scratch_reals(std::int64_t lanes) const {
  const auto block = [&](std::int64_t points) { return (2 * lanes * (points + 1) + 15) / 16 * 16; };
  const std::int64_t dummy =
      (2 * std::max(in.points, out.points) + 64 + 15) / 16 * 16;  // what lanes without a box write
  const std::int64_t reals = n > 0 ? ((lines * n + real_passes.scratch_rows()) * lanes + 15) / 16 * 16 : 0;
  return block(rows) + 2 * block(longest) + reals + dummy;
}
template struct BoxPlan<float>;
template struct BoxPlan<double>;

namespace {

constexpr std::int64_t kBoxBytes = 256 << 10;                  // of a block of rows: half of a common second cache
constexpr std::int64_t kWorthThreads = std::int64_t{1} << 15;  // points

// A dimension of the rows, outermost first; strides in reals.
struct Extent {
  std::int64_t extent, in, out;
};

// The runs of one side: the innermost dimensions that are one in memory make a run.
BoxSide side_of(const std::vector<Extent>& dims, std::int64_t Extent::*stride) {
  BoxSide side;
  std::size_t outer = dims.size();
  while (outer > 0 && dims[outer - 1].extent == 1) --outer;
  if (outer > 0) {
    side.stride = dims[--outer].*stride;
    side.points = dims[outer].extent;
  }
  while (outer > 0 && (dims[outer - 1].extent == 1 || dims[outer - 1].*stride == side.points * side.stride))
    side.points *= dims[--outer].extent;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < outer; ++d) count *= dims[d].extent;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t memory = 0, rest = i;
    for (std::size_t d = outer; d-- > 0; rest /= dims[d].extent) memory += rest % dims[d].extent * (dims[d].*stride);
    side.runs.push_back({memory, i * side.points});
  }
  return side;
}

template <class T> class BoxBody final : public detail::Body {
 public:
  BoxBody(const Problem& p, BoxPlan<T> plan, std::vector<LineBatch> batch)
      : plan_(std::move(plan)),
        batch_(std::move(batch)),
        factor_(static_cast<T>(p.factor)),
        exchange_(p.kind == Kind::ComplexToComplex && p.direction == Direction::Inverse) {
    boxes_ = line_count(batch_);
    lanes_ = widest_lanes<T>();
    scratch_ = (plan_.scratch_reals(lanes_) + 15) / 16 * 16;
    const std::int64_t blocks = (boxes_ + lanes_ - 1) / lanes_;
    threads_ = boxes_ * plan_.rows < kWorthThreads
                   ? 1
                   : static_cast<int>(std::min<std::int64_t>(std::max(omp_get_max_threads(), 1), blocks));
    const std::int64_t bytes = 2 * boxes_ * plan_.rows * static_cast<std::int64_t>(sizeof(T));
    const auto packed = [](const BoxSide& side, std::int64_t distance) {
      return side.runs.size() == 1 && distance == side.points * side.stride;
    };
    if (bytes > kStreamBytes && packed(plan_.in, batch_.back().input_distance) &&
        packed(plan_.out, batch_.back().output_distance)) {
      std::int64_t butterflies = plan_.lines;
      for (const BoxAxis<T>& a : plan_.axes) butterflies += a.inner * a.outer;
      const std::int64_t lines = 2 * plan_.rows * lanes_ * static_cast<std::int64_t>(sizeof(T)) / 64;
      plan_.ahead_lines = (lines + butterflies - 1) / butterflies;
    }
    double growth = 1;
    for (const Dimension& a : p.axes) growth *= 1 + direct_sum_bound<T>(a.extent);
    growth *= 1 + factor_bound(p);
    bound_ = (growth - 1) * (p.kind == Kind::RealToComplex ? std::sqrt(2.0) : 1);
  }

  std::int64_t workspace_bytes() const override { return threads_ * scratch_ * static_cast<std::int64_t>(sizeof(T)); }
  Accuracy accuracy() const override { return {Mode::Native, 1, bound_}; }

  void execute(const Executor&, const Operands& o) const override {
    BoxCall<T> call{static_cast<T*>(o.in.re),
                    static_cast<T*>(o.in.im),
                    static_cast<T*>(o.out.re),
                    static_cast<T*>(o.out.im),
                    &batch_,
                    factor_};
    if (exchange_) {
      std::swap(call.in_re, call.in_im);
      std::swap(call.out_re, call.out_im);
    }
    auto* scratch = static_cast<T*>(o.workspace);
    for_parts((boxes_ + lanes_ - 1) / lanes_, threads_for_call(threads_),
              [&](std::int64_t begin, std::int64_t end, int worker) {
                real_functions<T>().run_boxes(plan_, call, begin * lanes_, std::min(end * lanes_, boxes_),
                                              scratch + worker * scratch_);
              });
  }

 private:
  BoxPlan<T> plan_;
  std::vector<LineBatch> batch_;
  T factor_;
  bool exchange_;
  std::int64_t boxes_ = 1, scratch_ = 0;
  int lanes_ = 1, threads_ = 1;
  double bound_ = 0;
};

}  // namespace

template <class T> std::shared_ptr<const detail::Body> make_box_body(const Problem& p) {
  const int lanes = widest_lanes<T>();
  const bool real = p.kind != Kind::ComplexToComplex, there = p.kind == Kind::RealToComplex;
  // The conjugated real transforms (ihfft, hfft) are walked.
  if (p.axes.size() < 2 || lanes == 1 || (real && there == (p.direction == Direction::Inverse))) return nullptr;
  std::int64_t boxes = 1, points = 1;
  for (const Dimension& d : p.batch) boxes *= d.extent;
  for (const Dimension& d : p.axes) {
    if (d.extent > kBoxBytes || !is_smooth(d.extent)) return nullptr;
    points *= d.extent;
    if (2 * points * lanes * static_cast<std::int64_t>(sizeof(T)) > 2 * kBoxBytes) return nullptr;
  }
  if (boxes < lanes) return nullptr;

  BoxPlan<T> plan;
  plan.kind = p.kind;
  // Rows in the order of the input's strides (of the output's, if the input is real), the halved axis innermost.
  std::vector<Extent> dims;
  for (const Dimension& d : p.axes) dims.push_back({d.extent, d.input_stride, d.output_stride});
  const auto halved = dims.end() - (real ? 1 : 0);
  std::stable_sort(dims.begin(), halved, [&](const Extent& a, const Extent& b) {
    return there ? std::abs(a.out) > std::abs(b.out) : std::abs(a.in) > std::abs(b.in);
  });
  // Rows that fill vectors as they lie, but for a half one, are as well transformed column by column; so are, as
  // measured, real ones of 12, 16, ... doubles.
  const std::int64_t last = dims.back().extent, row_bytes = 2 * last * static_cast<std::int64_t>(sizeof(T)),
                     vector_bytes = lanes * static_cast<std::int64_t>(sizeof(T));
  if (!real && last >= 4 && row_bytes >= vector_bytes && row_bytes % 32 == 0) return nullptr;
  if (real && sizeof(T) == sizeof(double) && last >= 12 && last % 4 == 0) return nullptr;
  std::vector<Extent> reals = dims;
  if (real) {
    plan.n = dims.back().extent;
    if (!std::isfinite(real_passes_cost(plan.n))) return nullptr;
    dims.back().extent = plan.n / 2 + 1;
    plan.real_passes = make_real_passes<T>(there ? EngineKind::RealToHalf : EngineKind::HalfToReal, plan.n);
  }
  std::int64_t inner = real ? dims.back().extent : 1;
  for (const Extent& d : dims) plan.rows *= d.extent;
  for (std::size_t d = dims.size() - (real ? 1 : 0); d-- > 0; inner *= dims[d].extent) {
    if (dims[d].extent == 1 && inner > 1) continue;
    plan.axes.push_back({dims[d].extent, inner, plan.rows / inner / dims[d].extent, make_passes<T>(dims[d].extent)});
    plan.longest = std::max(plan.longest, dims[d].extent);
  }
  plan.lines = real ? plan.rows / dims.back().extent : 0;
  if ((2 * plan.rows + plan.lines * plan.n) * lanes * static_cast<std::int64_t>(sizeof(T)) > kBoxBytes) return nullptr;
  plan.in = side_of(there ? reals : dims, &Extent::in);
  plan.out = side_of(real && !there ? reals : dims, &Extent::out);

  std::vector<LineBatch> batch;
  for (const Dimension& d : p.batch) batch.push_back({d.extent, d.input_stride, d.output_stride});
  std::stable_sort(batch.begin(), batch.end(), [](const LineBatch& a, const LineBatch& b) {
    return std::abs(a.output_distance) > std::abs(b.output_distance);
  });
  // Neither runs nor boxes that are neighbours: the walk is no slower.
  const auto dense = [&](const BoxSide& side, bool complex, Format format, std::int64_t distance) {
    const std::int64_t step = complex && format == Format::Interleaved ? 2 : 1;
    return side.points == 1 || side.stride == step || distance == step;
  };
  if (!dense(plan.in, !there, p.input_format, batch.back().input_distance) ||
      !dense(plan.out, there || !real, p.output_format, batch.back().output_distance))
    return nullptr;
  return std::make_shared<BoxBody<T>>(p, std::move(plan), std::move(batch));
}
template std::shared_ptr<const detail::Body> make_box_body<float>(const Problem&);
template std::shared_ptr<const detail::Body> make_box_body<double>(const Problem&);

}  // namespace trn::fft::host
