// Which problems are tiny, and the sequence of their axes.
//
// Complex boxes: the outermost axis first, so that loads become narrower from axis to axis. Real ones: the halved axis
// is the first, or the last; back they pass through work on the stack, for the input is left alone.
// Bound. As for passes over memory (body.cpp): the relative errors of the axes' transforms add.
#include "tiny.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "line_plan.hpp"

namespace trn::fft::host {
namespace {

template <class T> struct TinyBox {
  int axes = 0;
  TinyAxis<T> axis[kTinyAxes];
};
template <class T> void run_tiny(const void* context, const void* in, void* out) {
  const auto& box = *static_cast<const TinyBox<T>*>(context);
  box.axis[0].run(box.axis[0], static_cast<const T*>(in), static_cast<T*>(out));
  for (int i = 1; i < box.axes; ++i) box.axis[i].run(box.axis[i], static_cast<const T*>(out), static_cast<T*>(out));
}
// The last axis from work.
template <class T> void run_tiny_back(const void* context, const void* in, void* out) {
  const auto& box = *static_cast<const TinyBox<T>*>(context);
  alignas(64) T work[2 * kTinyPoints];
  const int last = box.axes - 1;
  box.axis[0].run(box.axis[0], static_cast<const T*>(in), work);
  for (int i = 1; i < last; ++i) box.axis[i].run(box.axis[i], work, work);
  box.axis[last].run(box.axis[last], work, static_cast<T*>(out));
}

// A dimension at the three places: input, output, work.
struct Extent {
  std::int64_t extent, stride[3];
};
enum Side { kIn, kOut, kWork };

// Lines along `axis`, every combination of the other dimensions; false if they are more than two loops.
template <class T>
bool set_lines(TinyAxis<T>& a, const std::vector<Extent>& dims, std::size_t axis, Side from, Side to) {
  std::vector<Extent> others;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (d != axis && dims[d].extent > 1) others.push_back(dims[d]);
  std::stable_sort(others.begin(), others.end(),
                   [&](const Extent& x, const Extent& y) { return std::abs(x.stride[to]) > std::abs(y.stride[to]); });
  for (std::size_t d = 1; d < others.size();) {
    Extent &outer = others[d - 1], &inner = others[d];
    if (outer.stride[from] == inner.extent * inner.stride[from] &&
        outer.stride[to] == inner.extent * inner.stride[to]) {
      inner.extent *= outer.extent;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(d) - 1);
    } else {
      ++d;
    }
  }
  if (others.size() > 2) return false;
  a.in_stride = dims[axis].stride[from];
  a.out_stride = dims[axis].stride[to];
  if (!others.empty()) {
    a.inner = others.back().extent;
    a.in_inner = others.back().stride[from];
    a.out_inner = others.back().stride[to];
  }
  if (others.size() == 2) {
    a.outer = others.front().extent;
    a.in_outer = others.front().stride[from];
    a.out_outer = others.front().stride[to];
  }
  return true;
}

template <class T> class TinyBody final : public detail::Body {
 public:
  TinyBody(const TinyBox<T>& box, bool back, double bound)
      : box_(box), run_(back ? run_tiny_back<T> : run_tiny<T>), bound_(bound) {}
  detail::Direct direct() const override { return {run_, &box_}; }
  std::int64_t workspace_bytes() const override { return 0; }
  Accuracy accuracy() const override { return {Mode::Native, 1, bound_}; }
  void execute(const Executor&, const Operands& o) const override { run_(&box_, o.in.re, o.out.re); }

 private:
  TinyBox<T> box_;
  void (*run_)(const void*, const void*, void*);
  double bound_;
};

}  // namespace

template <class T> std::shared_ptr<const detail::Body> make_tiny_body(const Problem& p) {
  const bool real = p.kind != Kind::ComplexToComplex, there = p.kind == Kind::RealToComplex,
             inverse = p.direction == Direction::Inverse;
  if (p.axes.size() < 2 || (real && there == inverse) || p.input_format != Format::Interleaved ||
      p.output_format != Format::Interleaved)
    return nullptr;
  std::vector<Extent> dims;  // the batch, then the axes
  std::int64_t points = 1, boxes = 1;
  const auto add = [&](const Dimension& d, std::int64_t& count) {
    dims.push_back({d.extent, {d.input_stride, d.output_stride, 0}});
    count = std::min(count * std::min(d.extent, kTinyPoints + 1), kTinyPoints + 1);
  };
  for (const Dimension& b : p.batch) add(b, boxes);
  for (const Dimension& a : p.axes) add(a, points);
  if (points * boxes > kTinyPoints || boxes >= widest_lanes<T>()) return nullptr;
  if (!real && p.axes.size() == 2 && points > 32)
    return nullptr;  // rows and columns of 5 to 16 points fill vectors: a chain of the usual calls (body.cpp)

  // The axes in the order of their calls.
  const std::size_t halved = dims.size() - 1;
  const std::int64_t n = dims[halved].extent;
  const int place = there ? kOut : kIn;
  std::vector<std::size_t> order;
  for (std::size_t d = p.batch.size(); d < dims.size(); ++d)
    if (dims[d].extent > 1 && !(real && d == halved)) order.push_back(d);
  if (order.empty() || order.size() + (real ? 1 : 0) > kTinyAxes) return nullptr;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(dims[a].stride[place]) > std::abs(dims[b].stride[place]);
  });
  if (there) {
    std::reverse(order.begin(), order.end());
    order.insert(order.begin(), halved);
  } else if (real) {
    order.push_back(halved);
  }
  if (real) dims[halved].extent = n / 2 + 1;
  std::int64_t work = 2;  // dense
  for (std::size_t d = dims.size(); d-- > 0; work *= dims[d].extent) dims[d].stride[kWork] = work;
  if (work > 2 * kTinyPoints) return nullptr;

  TinyBox<T> box;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_halved = real && order[i] == halved, first = i == 0, last = i + 1 == order.size();
    const Side inside = real && !there ? kWork : kOut;
    const Side from = first ? kIn : inside, to = last ? kOut : inside;
    TinyAxis<T>& a = box.axis[box.axes++];
    if (!set_lines(a, dims, order[i], from, to)) return nullptr;
    a.run = small_functions<T>().tiny(!is_halved ? TinyKind::Complex
                                      : there    ? TinyKind::RealToHalf
                                                 : TinyKind::HalfToReal,
                                      is_halved ? n : dims[order[i]].extent);
    if (!a.run) return nullptr;
    a.turn = inverse ? T(-1) : T(1);
    a.factor = last ? static_cast<T>(p.factor) : T(1);
    a.together = a.in_inner == 2 && a.out_inner == 2 && !there;  // real lines are stored number by number
  }
  double growth = 1;
  for (const Dimension& a : p.axes) growth *= 1 + direct_sum_bound<T>(a.extent);
  growth *= 1 + factor_bound(p);
  return std::make_shared<TinyBody<T>>(box, real && !there, (growth - 1) * (there ? std::sqrt(2.0) : 1));
}
template std::shared_ptr<const detail::Body> make_tiny_body<float>(const Problem&);
template std::shared_ptr<const detail::Body> make_tiny_body<double>(const Problem&);

}  // namespace trn::fft::host
