// The engines of real lines: SIMD across lines or within one, and the threads, by the rules of engine.cpp.
#include "engine_way.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "../parallel.hpp"
#include "codelets.hpp"
#include "limits.hpp"
#include "real_plan.hpp"
#include "tiny.hpp"

namespace trn::fft::host {
namespace {

template <class T> class RealEngine final : public Engine<T> {
 public:
  RealEngine(EngineKind kind, std::int64_t n, std::int64_t lines, Way way) : lanes_(widest_lanes<T>()) {
    plan_.kind = kind;
    plan_.n = n;
    columns_ = way == Way::Quickest && lanes_ > 1 && is_listed(ColumnLengths(), n);
    const RealLine<T> line = choose_real_line<T>(kind, n, lanes_);
    const bool smooth = lanes_ > 1 && std::isfinite(real_passes_cost(n));
    plan_.lanes = way == Way::Quickest && smooth && lines >= 4 && !prefers_whole(line) &&
                  lanes_cost() / static_cast<double>(std::min<std::int64_t>(lines, lanes_)) < line.cost;
    if (!plan_.lanes) plan_.line = make_real_line<T>(kind, n, lanes_);
    plan_.lanes_if_strided = way == Way::Quickest && smooth && lines >= lanes_ && n <= kLongestStridedReal;
    if (plan_.lanes || plan_.lanes_if_strided) plan_.passes = make_real_passes<T>(kind, n);
  }

  std::int64_t length() const override { return plan_.n; }

  // Codelets and what is done whole in registers need no scratch.
  DirectLines direct(std::int64_t in_stride, std::int64_t out_stride, const std::vector<LineBatch>& batch, bool,
                     double factor, int threads) const override {
    if (are_columns(batch)) {
      auto call = std::make_shared<Columns>(Columns{batch,
                                                    {nullptr, nullptr, nullptr, nullptr, in_stride, out_stride, nullptr,
                                                     line_count(batch), static_cast<T>(factor)},
                                                    there(),
                                                    plan_.n});
      if (threads > 1 && call->call.lines * plan_.n >= 2 * kThreadPoints) return {};
      call->call.batch = &call->batch;
      return {run_columns, call};
    }
    if (plan_.lanes || !plan_.line->run_dense || !dense(in_stride, out_stride) || batch.size() > 1) return {};
    const LineBatch lines = batch.empty() ? LineBatch{} : batch.front();
    if (lines.count * plan_.n >= 2 * kThreadPoints && threads > 1) return {};
    // The context holds the tables, too.
    auto call = std::make_shared<std::pair<DenseRealCall<T>, std::shared_ptr<const RealLine<T>>>>(
        plan_.line->dense_call(static_cast<T>(factor), lines.count, lines.input_distance, lines.output_distance),
        plan_.line);
    return {plan_.line->run_dense, std::shared_ptr<const void>(call, &call->first)};
  }

  // Passes: the chain of sums of Engine::bound(). Every step of it maps Hermitian (or real) vectors of n points to
  // such, and computing half of them makes the same relative error as computing all, for an error at k is repeated at n
  // - k; sums of real products err less than those of complex ones.
  double bound() const override {
    return std::max(plan_.passes.n == 0 ? 0 : direct_sum_bound<T>(plan_.n), plan_.line ? plan_.line->bound : 0);
  }

  std::int64_t scratch_bytes(int threads) const override {
    std::int64_t reals = 0;
    if (plan_.line) reals = plan_.n < kLongLine ? threads * line_scratch(1) : line_scratch(threads);
    if (plan_.passes.n > 0) reals = std::max(reals, threads * block_scratch());
    return reals * static_cast<std::int64_t>(sizeof(T));
  }

  void run(const Lines& in, const Lines& out, const std::vector<LineBatch>& batch, double factor, std::byte* scratch,
           int threads) const override {
    T* memory = reinterpret_cast<T*>(scratch);
    if (batch.empty() || (batch.size() == 1 && batch[0].count == 1))
      if (!plan_.lanes)
        return plan_.line->run(*plan_.line, sides(in, out, 0, 0), static_cast<T>(factor), memory,
                               plan_.n < kLongLine ? 1 : threads);
    const EngineCall<T> call = engine_call<T>(in, out, batch, factor);
    if (call.lines == 0) return;
    threads = static_cast<int>(std::clamp<std::int64_t>(call.lines * plan_.n / kThreadPoints, 1, threads));
    const std::int64_t blocks = (call.lines + lanes_ - 1) / lanes_;
    const auto lines_of = [&](std::int64_t block) { return std::min(block * lanes_, call.lines); };
    if (const T* half = there() ? call.out_re : call.in_re;
        are_columns(batch) && (there() ? call.out_im : call.in_im) == half + 1)
      return for_parts(blocks, threads, [&](std::int64_t begin, std::int64_t end, int) {
        small_functions<T>().real_columns(there(), plan_.n, call, lines_of(begin), lines_of(end));
      });
    const bool strided =
        !batch.empty() && std::abs(batch.back().input_distance) < std::abs(in.stride) && call.lines >= lanes_;
    if (plan_.lanes || (plan_.lanes_if_strided && strided)) {
      for_parts(blocks, threads, [&](std::int64_t begin, std::int64_t end, int thread) {
        real_functions<T>().run_lanes(plan_, call, lines_of(begin), lines_of(end), memory + thread * block_scratch());
      });
    } else if (plan_.n < kLongLine) {
      for_parts(call.lines, threads, [&](std::int64_t begin, std::int64_t end, int thread) {
        run_lines(in, out, batch, begin, end, call.factor, memory + thread * line_scratch(1), 1);
      });
    } else {
      run_lines(in, out, batch, 0, call.lines, call.factor, memory, threads);
    }
  }

 private:
  [[nodiscard]] bool there() const { return plan_.kind == EngineKind::RealToHalf; }
  [[nodiscard]] bool dense(std::int64_t in_stride, std::int64_t out_stride) const {
    return there() ? in_stride == 1 && out_stride == 2 : in_stride == 2 && out_stride == 1;
  }
  // Rows of reals on one side, of what may be pairs on the other, of a codelet's length.
  [[nodiscard]] bool are_columns(const std::vector<LineBatch>& batch) const {
    return columns_ && !batch.empty() && batch.back().count > 1 &&
           dense(batch.back().input_distance, batch.back().output_distance);
  }
  struct Columns {
    std::vector<LineBatch> batch;
    EngineCall<T> call;
    bool there;
    std::int64_t n;
  };
  static void run_columns(const void* context, const void* in, void* out) {
    const Columns& columns = *static_cast<const Columns*>(context);
    EngineCall<T> call = columns.call;
    call.in_re = const_cast<T*>(static_cast<const T*>(in));
    call.out_re = static_cast<T*>(out);
    small_functions<T>().real_columns(columns.there, columns.n, call, 0, call.lines);
  }
  // Lines whole in registers are measured to be faster one after the other from 48 points on, if their vectors have 32
  // bytes or more.
  [[nodiscard]] static bool prefers_whole(const RealLine<T>& line) {
    return line.kind == RealKind::Pairs && line.n >= 48 && 2 * line.lanes * static_cast<int>(sizeof(T)) >= 32;
  }
  // As for complex lines, with half the memory: a block in operations of the widest vectors. The factor 1.4 fits times
  // of both ways for 60 lengths.
  double lanes_cost() const {
    const double points = static_cast<double>(plan_.n), bytes = 2 * points * lanes_ * sizeof(T);
    const bool meet = plan_.n >= 512 && plan_.n % 64 == 0;  // powers of two meet in the first cache
    const double cache = (bytes <= 32768     ? 1.0
                          : bytes <= 262144  ? 1.1
                          : bytes <= 2097152 ? 1.15
                                             : 1.6) *
                         (meet ? 1.5 : 1.0);
    return 1.4 * (cache * real_passes_cost(plan_.n) + (has_real_codelet(plan_.n) ? 3 * points : 8 * points + 60));
  }
  std::int64_t block_scratch() const { return real_block_reals(plan_, lanes_); }
  std::int64_t line_scratch(int threads) const {
    return plan_.line->shared_reals() + threads * plan_.line->private_reals() + 64;
  }

  RealSides<T> sides(const Lines& in, const Lines& out, std::int64_t from, std::int64_t to) const {
    const Lines &real = there() ? in : out, &half = there() ? out : in;
    const std::int64_t real_at = there() ? from : to, half_at = there() ? to : from;
    return {static_cast<T*>(real.re) + real_at, real.stride, static_cast<T*>(half.re) + half_at,
            static_cast<T*>(half.im) + half_at, half.stride};
  }
  void run_lines(const Lines& in, const Lines& out, const std::vector<LineBatch>& batch, std::int64_t begin,
                 std::int64_t end, T factor, T* scratch, int threads) const {
    const Lines& half = there() ? out : in;
    const bool whole = plan_.line->run_dense && dense(in.stride, out.stride) &&
                       static_cast<T*>(half.im) == static_cast<T*>(half.re) + 1;
    LineCounter at(batch, begin);
    for (std::int64_t line = begin; line < end;) {
      const std::int64_t lines = whole ? std::min(at.run(), end - line) : 1;
      if (whole) {
        const DenseRealCall<T> call =
            plan_.line->dense_call(factor, lines, batch.empty() ? 0 : batch.back().input_distance,
                                   batch.empty() ? 0 : batch.back().output_distance);
        plan_.line->run_dense(&call, static_cast<T*>(in.re) + at.from, static_cast<T*>(out.re) + at.to);
      } else {
        plan_.line->run(*plan_.line, sides(in, out, at.from, at.to), factor, scratch, threads);
      }
      line += lines;
      at.advance(lines);
    }
  }

  int lanes_;
  bool columns_ = false;
  RealPlan<T> plan_;
};

}  // namespace

template <class T>
std::shared_ptr<const Engine<T>> make_real_engine(EngineKind kind, std::int64_t n, std::int64_t lines, Way way) {
  return std::make_shared<RealEngine<T>>(kind, n, lines, way);
}
template std::shared_ptr<const Engine<float>> make_real_engine<float>(EngineKind, std::int64_t, std::int64_t, Way);
template std::shared_ptr<const Engine<double>> make_real_engine<double>(EngineKind, std::int64_t, std::int64_t, Way);

}  // namespace trn::fft::host
