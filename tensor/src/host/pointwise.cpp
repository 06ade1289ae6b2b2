// Elementwise operations: one walk over D in the order of its memory, a run at a time.
#include "pointwise.hpp"

#include <algorithm>

#include <trn/core/parallel.hpp>

#include "offsets.hpp"
#include "runs.hpp"

namespace trn::tensor::host {

namespace {

template <class C> struct Walk {
  const PointwiseArgs& s;
  const PointwiseCall& call;

  // Elements first ... first + n - 1 of the innermost index, at these offsets.
  void run(const std::int64_t at[4], const FoldedIndex& inner, std::int64_t first, std::int64_t n) const {
    C sum[kRun], term[kRun];
    const std::int64_t strides[3] = {inner.a, inner.b, inner.c};
    for (int t = 0; t < s.terms; ++t) {
      C* const to = t == 0 ? sum : term;
      if (call.scale[t] == std::complex<double>(0)) {
        std::fill(to, to + n, C(0));
      } else {
        load_run(s.types[t], call.data[t], at[t] + first * strides[t], strides[t], n, to);
        apply(s.ops[t], to, n);
        scale_run(call.scale[t], to, n);
      }
      if (t > 0) apply(t == 1 ? s.ab : s.abc, sum, term, n);
    }
    apply(s.result, sum, n);
    store_run(s.out, call.d, at[3] + first * inner.d, inner.d, n, sum);
  }

  void all() const {
    const FoldedIndex inner = s.group.empty() ? FoldedIndex{} : s.group.front();
    const Group outer(s.group.empty() ? s.group.begin() : s.group.begin() + 1, s.group.end());
    const std::int64_t chunks = (inner.extent + kRun - 1) / kRun, rows = extent_of(outer);
    for_ranges(rows * chunks, inner.extent * rows > 1 << 15 ? call.threads : 1,
               [&](std::int64_t begin, std::int64_t end, int) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   std::int64_t at[4] = {};
                   offset_at(outer, i / chunks, at);
                   const std::int64_t first = i % chunks * kRun;
                   run(at, inner, first, std::min(kRun, inner.extent - first));
                 }
               });
  }
};

}  // namespace

void pointwise(const PointwiseArgs& args, const PointwiseCall& call) {
  if (extent_of(args.group) == 0) return;
  with_compute(args.compute, [&]<class C>() { Walk<C>{args, call}.all(); });
}

}  // namespace trn::tensor::host
