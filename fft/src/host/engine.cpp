// The 1-D engines of the host family: the choice between SIMD across lines and SIMD within a line, and the threads.
//
// Short lines run one after the other, whole in registers or in a few steps; longer smooth ones, if there are several,
// with one line in each lane, up to a length whose block of rows stays in the second cache; all else line by line.
// Threads take blocks of lines, or single lines, or (few long lines) blocks of columns within a line. Which of them
// depends on n, the number of lines the engine was made for, and the threads; a line's arithmetic depends on n and on
// the first choice only, so results are the same bits for any number of threads.
#include <algorithm>
#include <limits>

#include <trn/core/error.hpp>

#include "../parallel.hpp"
#include "columns.hpp"
#include "engine_way.hpp"
#include "limits.hpp"
#include "line_choice.hpp"
#include "line_plan.hpp"
#include "schedule.hpp"

namespace trn::fft::host {
namespace {

constexpr int kFewColumns = 2;  // columns that are worth vectors, be they partly filled

template <class T> class LineEngine final : public Engine<T> {
 public:
  LineEngine(std::int64_t n, std::int64_t lines, Way way) : lanes_(widest_lanes<T>()) {
    plan_.n = n;
    const bool smooth = is_smooth(n);
    const auto prefers = [&] {
      return way == Way::Quickest ? prefers_lanes(Chooser(lanes_, sizeof(T)).best(n), n, lines) : way == Way::Columns;
    };
    plan_.lanes = n == 1 || (smooth && prefers());
    if (!plan_.lanes) plan_.line = make_line_plan<T>(n, lanes_);
    plan_.lanes_if_strided = way == Way::Quickest && smooth && lines >= kFewColumns && n <= kLongestStrided;
    if (plan_.lanes || plan_.lanes_if_strided) plan_.passes = make_passes<T>(n);
    plan_.wide =
        (plan_.lanes || plan_.lanes_if_strided) && may_be_wide(n, 2 * n * lines * static_cast<std::int64_t>(sizeof(T)));
  }

  std::int64_t length() const override { return plan_.n; }

  DirectLines direct(std::int64_t in_stride, std::int64_t out_stride, const std::vector<LineBatch>& batch, bool inverse,
                     double factor, int threads) const override {
    if (are_columns(batch) && (plan_.lanes || plan_.lanes_if_strided) && plan_.passes.passes.size() == 1 &&
        has_codelet(plan_.n)) {
      const std::int64_t count = line_count(batch);
      if (count < kFewColumns || (count * plan_.n >= 2 * kThreadPoints && threads > 1)) return {};
      return {functions_.columns,
              std::make_shared<ColumnsCall<T>>(ColumnsCall<T>{static_cast<int>(plan_.n), in_stride, out_stride, inverse,
                                                              static_cast<T>(factor), count, batch})};
    }
    if (!whole() || in_stride != 2 || out_stride != 2 || batch.size() > 1) return {};
    const LineBatch lines = batch.empty() ? LineBatch{} : batch.front();
    if (lines.count * plan_.n >= 2 * kThreadPoints && threads > 1) return {};
    return {plan_.line->run_whole,
            std::make_shared<WholeCall<T>>(plan_.line->whole_call(inverse, static_cast<T>(factor), lines.count,
                                                                  lines.input_distance, lines.output_distance))};
  }

  double bound() const override {
    const double passes = plan_.passes.passes.empty() ? 0 : direct_sum_bound<T>(plan_.n);
    return std::max(passes, plan_.line ? plan_.line->bound : 0);
  }

  std::int64_t scratch_bytes(int threads) const override {
    std::int64_t reals = 0;
    if (plan_.lanes || plan_.lanes_if_strided) reals = threads * block_scratch();
    if (plan_.line && !whole())
      reals = std::max(reals, plan_.n < kLongLine ? threads * line_scratch(1) : line_scratch(threads));
    return reals * static_cast<std::int64_t>(sizeof(T));
  }

  void run(const Lines& in, const Lines& out, const std::vector<LineBatch>& batch, double factor, std::byte* scratch,
           int threads) const override {
    const EngineCall<T> call = engine_call<T>(in, out, batch, factor);
    if (call.lines == 0) return;
    threads = static_cast<int>(std::clamp<std::int64_t>(call.lines * plan_.n / kThreadPoints, 1, threads));
    T* memory = reinterpret_cast<T*>(scratch);
    if (call.lines == 1 && plan_.line)
      return functions_.one_line(*plan_.line, call.in_re, call.in_im, in.stride, call.out_re, call.out_im, out.stride,
                                 call.factor, memory, plan_.n < kLongLine ? 1 : threads);
    // Columns, and lines that are strided, or planar and short, are better off in lanes than copied one by one.
    const auto pairs = [](const Lines& side) {
      return side.stride == 2 && std::abs(static_cast<T*>(side.im) - static_cast<T*>(side.re)) == 1;
    };
    const bool near = !batch.empty() && std::abs(batch.back().input_distance) < std::abs(in.stride);
    const bool strided = (near && call.lines >= (are_columns(batch) ? kFewColumns : lanes_)) ||
                         (whole() && !(pairs(in) && pairs(out)) && call.lines >= lanes_);
    if (plan_.lanes || (plan_.lanes_if_strided && strided)) {
      const std::int64_t blocks = (call.lines + lanes_ - 1) / lanes_;
      for_parts(blocks, threads, [&](std::int64_t begin, std::int64_t end, int thread) {
        functions_.run_lanes(plan_, call, begin * lanes_, std::min(end * lanes_, call.lines),
                             memory + thread * block_scratch());
      });
    } else if (plan_.n < kLongLine) {
      for_parts(call.lines, threads, [&](std::int64_t begin, std::int64_t end, int thread) {
        functions_.run_lines(plan_, call, begin, end, whole() ? nullptr : memory + thread * line_scratch(1), 1);
      });
    } else {
      functions_.run_lines(plan_, call, 0, call.lines, memory, threads);
    }
  }

 private:
  // Interleaved ones, which the caller knows.
  [[nodiscard]] static bool are_columns(const std::vector<LineBatch>& batch) {
    return !batch.empty() && batch.back().input_distance == 2 && batch.back().output_distance == 2;
  }
  [[nodiscard]] bool whole() const { return plan_.line && plan_.line->is_whole(); }
  // A block of lines in operations of the widest vectors: passes, tiles in and out; slower outside the caches, and
  // where powers of two meet in them. The factors fit times of both ways for 60 lengths to 16384.
  double lanes_cost(std::int64_t m) const {
    const double bytes = 4.0 * static_cast<double>(m * lanes_) * sizeof(T);
    const bool meet = (m >= 128 && m % 64 == 0) || (m >= 1024 && m % 32 == 0);
    const double cache = (bytes <= 32768     ? 1.0
                          : bytes <= 262144  ? 1.1
                          : bytes <= 2097152 ? 1.15
                                             : 1.6) *
                         (meet ? 1.5 : 1.0);
    return m <= 16 ? passes_cost(m) + 6 * static_cast<double>(m)
                   : cache * passes_cost(m) + 16 * static_cast<double>(m) + 60;
  }
  // Lines that can be done whole or in steps are measured to be faster one after the other, but for a few that are a
  // single codelet.
  bool prefers_lanes(const Choice& line, std::int64_t m, std::int64_t lines) const {
    if (line.is_whole()) return lines >= lanes_ && is_listed(LaneLengths<T>(), m);
    return lines >= 4 && lanes_cost(m) / static_cast<double>(std::min<std::int64_t>(lines, lanes_)) < line.cost;
  }
  std::int64_t block_scratch() const {
    return (plan_.wide ? 2 + wide_group<T>(lanes_) : 2) * round_up(2 * lanes_ * (plan_.n + 1)) +
           round_up(2 * plan_.n + 64);
  }
  std::int64_t line_scratch(int threads) const {
    return plan_.line->shared_reals() + threads * plan_.line->private_reals() + 64;
  }

  int lanes_;
  EnginePlan<T> plan_;
  const LineFunctions<T>& functions_ = line_functions<T>();
};

// Long before memory is asked for: the tables of real lines of even length are those of half of it, and as many reals
// as there are points.
void check_memory(EngineKind kind, std::int64_t n, int lanes, std::int64_t real_bytes) {
  const std::int64_t points = kind != EngineKind::Complex && n % 2 == 0 ? n / 2 : n;
  const double bytes = Chooser(lanes, real_bytes).bytes(points) + 2.0 * static_cast<double>((n - points) * real_bytes);
  require(bytes <= static_cast<double>(kPlanBytes),
          "fft.plan: to plan an axis of {} points takes {:.1f} GiB of tables, more than the {} GiB that there may be; "
          "lengths without prime factors above {} take less",
          n, bytes / 0x1p30, kPlanBytes >> 30, kLargestDirect);
}

}  // namespace

template <class T>
std::shared_ptr<const Engine<T>> make_engine(EngineKind kind, std::int64_t n, std::int64_t lines, Way way) {
  if (n > kLongConvolution) check_memory(kind, n, widest_lanes<T>(), sizeof(T));
  if (kind != EngineKind::Complex) return make_real_engine<T>(kind, n, lines, way);
  return std::make_shared<LineEngine<T>>(n, lines, way);
}
template <class T> std::shared_ptr<const Engine<T>> make_engine(EngineKind kind, std::int64_t n, std::int64_t lines) {
  return make_engine<T>(kind, n, lines, Way::Quickest);
}
template std::shared_ptr<const Engine<float>> make_engine<float>(EngineKind, std::int64_t, std::int64_t);
template std::shared_ptr<const Engine<double>> make_engine<double>(EngineKind, std::int64_t, std::int64_t);
template std::shared_ptr<const Engine<float>> make_engine<float>(EngineKind, std::int64_t, std::int64_t, Way);
template std::shared_ptr<const Engine<double>> make_engine<double>(EngineKind, std::int64_t, std::int64_t, Way);

}  // namespace trn::fft::host
