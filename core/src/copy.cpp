// Copies between strided views, on one executor or across two. A copy is a list of axes with a byte stride on either
// side; axes that run on without a gap on both sides are merged into one, down to runs of contiguous bytes. Host memory
// is read and written in place; device memory only through copy_in, copy_out and, within one device, copy_within, one
// call per run. Where the runs of the two sides do not match, the data passes through a packed staging block on the
// host.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <trn/core/array.hpp>

namespace trn::detail {
namespace {

struct Axis {
  std::int64_t extent, from, to;  // strides in bytes
};
using Axes = std::vector<Axis>;
using Stride = std::int64_t Axis::*;

struct Place {
  Backend* backend;  // null: host memory
  std::byte* data;
};

struct Transfer {
  Place from, to;
  Axes axes;  // outermost first
  std::int64_t element_bytes;
};

std::int64_t payload_bytes(const Transfer& t) {
  std::int64_t bytes = t.element_bytes;
  for (const Axis& axis : t.axes) bytes *= axis.extent;
  return bytes;
}

// Makes `side`'s strides non-negative and lets them decrease from the outermost axis inwards. Stride 0 goes outermost:
// it would only break up runs.
void order_by(Transfer& t, Stride side) {
  std::erase_if(t.axes, [](const Axis& axis) { return axis.extent == 1; });
  for (Axis& axis : t.axes) {
    if (axis.*side >= 0) continue;
    t.from.data += (axis.extent - 1) * axis.from;
    t.to.data += (axis.extent - 1) * axis.to;
    axis.from = -axis.from;
    axis.to = -axis.to;
  }
  std::stable_sort(t.axes.begin(), t.axes.end(), [side](const Axis& a, const Axis& b) {
    return a.*side != 0 && b.*side != 0 ? a.*side > b.*side : a.*side == 0 && b.*side != 0;
  });
}

// The axes with their neighbours merged where no gap parts them; the last one is a run of bytes, stride 1 on both
// sides.
Axes merged(const Transfer& t) {
  Axes result{{t.element_bytes, 1, 1}};  // innermost first while building
  for (auto axis = t.axes.rbegin(); axis != t.axes.rend(); ++axis) {
    Axis& inner = result.back();
    if (axis->from == inner.extent * inner.from && axis->to == inner.extent * inner.to) {
      inner.extent *= axis->extent;
    } else {
      result.push_back(*axis);
    }
  }
  std::reverse(result.begin(), result.end());
  return result;
}

// The axes with the strides that `side` has in a block without gaps.
Axes packed(const Transfer& t, Stride side) {
  Axes axes = t.axes;
  std::int64_t stride = t.element_bytes;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    (*axis).*side = stride;
    stride *= axis->extent;
  }
  return axes;
}

// body(from, to) at every position of the axes.
template <class Body>
void for_each(const Axis* axis, const Axis* end, std::byte* from, std::byte* to, const Body& body) {
  if (axis == end) return body(from, to);
  for (std::int64_t i = 0; i < axis->extent; ++i) {
    for_each(axis + 1, end, from + i * axis->from, to + i * axis->to, body);
  }
}

// n elements of a size known to the compiler, one by one.
template <std::size_t kBytes> void copy_single(const std::byte* from, std::byte* to, const Axis& axis) {
  for (std::int64_t i = 0; i < axis.extent; ++i) std::memcpy(to + i * axis.to, from + i * axis.from, kBytes);
}

void copy_runs(const std::byte* from, std::byte* to, const Axis& axis, std::int64_t run_bytes) {
  switch (run_bytes) {
    case 1:
      return copy_single<1>(from, to, axis);
    case 2:
      return copy_single<2>(from, to, axis);
    case 4:
      return copy_single<4>(from, to, axis);
    case 8:
      return copy_single<8>(from, to, axis);
    default:
      for (std::int64_t i = 0; i < axis.extent; ++i) {
        std::memcpy(to + i * axis.to, from + i * axis.from, static_cast<std::size_t>(run_bytes));
      }
  }
}

// Reads `from` and writes `to` in place.
void copy_in_host_memory(Transfer t) {
  order_by(t, &Axis::to);
  Axes axes = merged(t);
  const std::int64_t run_bytes = axes.back().extent;
  axes.pop_back();
  if (axes.empty()) axes.push_back({1, 0, 0});
  const Axis inner = axes.back();
  for_each(axes.data(), axes.data() + axes.size() - 1, t.from.data, t.to.data,
           [&](const std::byte* from, std::byte* to) { copy_runs(from, to, inner, run_bytes); });
}

// One call per run of `axes`; both sides are one device, or one of them is the host.
void copy_device_runs(const Transfer& t, const Axes& axes) {
  const std::int64_t run_bytes = axes.back().extent;
  for_each(axes.data(), axes.data() + axes.size() - 1, t.from.data, t.to.data, [&](std::byte* from, std::byte* to) {
    if (t.from.backend && t.to.backend) {
      t.to.backend->copy_within(to, from, run_bytes);
    } else if (t.from.backend) {
      t.from.backend->copy_out(to, from, run_bytes);
    } else {
      t.to.backend->copy_in(to, from, run_bytes);
    }
  });
}

// Whether the address ranges of the two sides meet; interleaved views count as meeting.
bool overlap(const Transfer& t) {
  const auto range = [&t](const std::byte* data, Stride side) {
    auto low = reinterpret_cast<std::uintptr_t>(data), high = low + static_cast<std::uintptr_t>(t.element_bytes);
    for (const Axis& axis : t.axes) {
      const std::int64_t reach = (axis.extent - 1) * axis.*side;
      (reach < 0 ? low : high) += static_cast<std::uintptr_t>(reach);
    }
    return std::pair(low, high);
  };
  const auto from = range(t.from.data, &Axis::from), to = range(t.to.data, &Axis::to);
  return from.first < to.second && to.first < from.second;
}

void perform(Transfer t);

// from -> packed host block -> to. The block has the order of t.axes.
void stage(const Transfer& t) {
  const auto block = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(payload_bytes(t)));
  const Place middle{nullptr, block.get()};
  perform({t.from, middle, packed(t, &Axis::to), t.element_bytes});
  perform({middle, t.to, packed(t, &Axis::from), t.element_bytes});
}

void perform(Transfer t) {
  if (!t.from.backend && !t.to.backend) return overlap(t) ? stage(t) : copy_in_host_memory(std::move(t));
  const bool from_device = t.from.backend != nullptr;
  order_by(t, from_device ? &Axis::from : &Axis::to);
  if (from_device && t.to.backend) {
    // A device copies within its own memory while the runs are long; many short ones go faster by way of the host.
    constexpr std::int64_t kShortestRun = 4096;
    const Axes axes = merged(t);
    const bool long_runs = axes.size() == 1 || axes.back().extent >= kShortestRun;
    return t.from.backend == t.to.backend && long_runs && !overlap(t) ? copy_device_runs(t, axes) : stage(t);
  }
  // Direct when the device's own runs are no longer than the runs both sides share.
  const Axes shared = merged(t);
  const Axes device_only = merged({t.from, t.to, packed(t, from_device ? &Axis::to : &Axis::from), t.element_bytes});
  return shared.back().extent == device_only.back().extent ? copy_device_runs(t, shared) : stage(t);
}

void check_side(const char* role, const CopySide& side, std::int64_t element_bytes) {
  require(side.data != nullptr, "copy: {} data is null but its shape {} is not empty; give the address of the elements",
          role, to_string(*side.shape));
  const OffsetRange range = offset_range(*side.shape, *side.strides);
  std::int64_t bytes = 0;
  require(!__builtin_sub_overflow(range.highest, range.lowest, &bytes) &&
              !__builtin_add_overflow(bytes, std::int64_t{1}, &bytes) &&
              !__builtin_mul_overflow(bytes, element_bytes, &bytes),
          "copy: {} shape {} with strides {} spans more than 64-bit bytes; use smaller strides", role,
          to_string(*side.shape), to_string(*side.strides));
}

void transfer_elements(const CopySide& from, const CopySide& to, std::int64_t element_bytes) {
  check_side("source", from, element_bytes);
  check_side("target", to, element_bytes);
  const auto place = [](const CopySide& side) {
    return Place{side.executor->family() == Family::Device ? &side.executor->backend() : nullptr,
                 static_cast<std::byte*>(side.data)};
  };
  Transfer t{place(from), place(to), {}, element_bytes};
  for (std::size_t i = 0; i < from.shape->size(); ++i) {
    const std::int64_t extent = (*to.shape)[i];
    if (extent == 1) continue;  // its stride is never taken, so it may be anything
    require((*to.strides)[i] != 0,
            "copy: target stride of axis {} is 0 over extent {}, several values for one place; "
            "give it a stride or extent 1",
            i, extent);
    t.axes.push_back({extent, (*from.strides)[i] * element_bytes, (*to.strides)[i] * element_bytes});
  }
  perform(std::move(t));
}

}  // namespace

void copy_elements(const CopySide& from, const CopySide& to, std::int64_t element_bytes) {
  require(*from.shape == *to.shape, "copy: source shape {} differs from target shape {}; copy views of equal shape",
          to_string(*from.shape), to_string(*to.shape));
  const std::int64_t bytes = byte_count(*from.shape, element_bytes);
  if (bytes > 0) transfer_elements(from, to, element_bytes);
  Event event{EventKind::Copy, from.executor->name() + " -> " + to.executor->name(), {}, bytes};
  const auto tell = [&event](Backend& backend) {
    event.begin = event.end = backend.clock();
    backend.events().emit(event);
  };
  tell(from.executor->backend());
  if (*from.executor != *to.executor) tell(to.executor->backend());
}

}  // namespace trn::detail

namespace trn {

void copy_bytes(const Executor& from_executor, const void* from, const Executor& to_executor, void* to,
                std::int64_t bytes) {
  const Shape shape{bytes};
  const Strides strides{1};
  detail::copy_elements({&from_executor, const_cast<void*>(from), &shape, &strides},
                        {&to_executor, to, &shape, &strides}, 1);
}

}  // namespace trn
