// The engine of columns_real.hpp: threads take ranges of columns.
#include "columns_real.hpp"

#include <algorithm>

#include "../parallel.hpp"
#include "columns.hpp"
#include "limits.hpp"
#include "line_plan.hpp"
#include "tiny.hpp"

namespace trn::fft::host {
namespace {

template <class T> class RealColumnsEngine final : public Engine<T> {
 public:
  RealColumnsEngine(EngineKind kind, std::int64_t n, RealColumnsRun<T> kernel)
      : there_(kind == EngineKind::RealToHalf), n_(n), kernel_(kernel), lanes_(widest_lanes<T>()) {}

  std::int64_t length() const override { return n_; }
  std::int64_t scratch_bytes(int) const override { return 0; }

  DirectLines direct(std::int64_t in_stride, std::int64_t out_stride, const std::vector<LineBatch>& batch, bool,
                     double factor, int threads) const override {
    const std::int64_t lines = count(batch);
    if (batch.size() > 2 || (threads > 1 && lines * n_ >= 2 * kThreadPoints)) return {};
    auto call = std::make_shared<Call>(
        Call{columns(nullptr, nullptr, in_stride, out_stride, batch, factor), batch.back().count, kernel_, there_});
    if (batch.size() == 2) call->columns.runs = batch.front().count;
    return {run_call, call};
  }

  void run(const Lines& in, const Lines& out, const std::vector<LineBatch>& batch, double factor, std::byte*,
           int threads) const override {
    const std::int64_t lines = count(batch);
    if (lines == 0) return;
    const RealColumnRuns<T> all =
        columns(static_cast<T*>(in.re), static_cast<T*>(out.re), in.stride, out.stride, batch, factor);
    threads = static_cast<int>(std::clamp<std::int64_t>(lines * n_ / kThreadPoints, 1, threads));
    for_parts((lines + lanes_ - 1) / lanes_, threads, [&](std::int64_t begin, std::int64_t end, int) {
      range(all, batch, begin * lanes_, std::min(end * lanes_, lines));
    });
  }

 private:
  struct Call {
    RealColumnRuns<T> columns;
    std::int64_t run;
    RealColumnsRun<T> kernel;
    bool there;
  };
  static void run_call(const void* context, const void* in, void* out) {
    const Call& call = *static_cast<const Call*>(context);
    RealColumnRuns<T> c = call.columns;
    T* from = const_cast<T*>(static_cast<const T*>(in));
    c.real = call.there ? from : static_cast<T*>(out);
    c.half = call.there ? static_cast<T*>(out) : from;
    call.kernel(c, call.run);
  }

  static std::int64_t count(const std::vector<LineBatch>& batch) {
    std::int64_t lines = 1;
    for (const LineBatch& b : batch) lines *= b.count;
    return lines;
  }
  RealColumnRuns<T> columns(T* in, T* out, std::int64_t in_stride, std::int64_t out_stride,
                            const std::vector<LineBatch>& batch, double factor) const {
    const LineBatch outer = batch.size() > 1 ? batch[batch.size() - 2] : LineBatch{};
    const std::int64_t bytes = count(batch) * (there_ ? n_ + 2 : n_) * static_cast<std::int64_t>(sizeof(T));
    RealColumnRuns<T> c{in,
                        out,
                        in_stride,
                        out_stride,
                        1,
                        outer.input_distance,
                        outer.output_distance,
                        static_cast<T>(factor),
                        bytes >= kStreamBytes};
    if (!there_) {
      std::swap(c.real, c.half);
      std::swap(c.real_stride, c.half_stride);
      std::swap(c.real_step, c.half_step);
    }
    return c;
  }

  // Lines begin .. end: whole runs together, else what is left of one.
  void range(const RealColumnRuns<T>& all, const std::vector<LineBatch>& batch, std::int64_t begin,
             std::int64_t end) const {
    const std::int64_t length = batch.back().count, outer = batch.size() > 1 ? batch[batch.size() - 2].count : 1;
    for (std::int64_t line = begin; line < end;) {
      RealColumnRuns<T> c = all;
      std::int64_t rest = line;
      for (std::size_t i = batch.size(); i-- > 0; rest /= batch[i].count) {
        const std::int64_t digit = i > 0 ? rest % batch[i].count : rest;
        c.real += digit * (there_ ? batch[i].input_distance : batch[i].output_distance);
        c.half += digit * (there_ ? batch[i].output_distance : batch[i].input_distance);
      }
      const std::int64_t run = std::min(length - line % length, end - line);
      c.runs = run < length ? 1 : std::min(outer - line / length % outer, (end - line) / length);
      kernel_(c, run);
      line += run * c.runs;
    }
  }

  bool there_;
  std::int64_t n_;
  RealColumnsRun<T> kernel_;
  int lanes_;
};

}  // namespace

template <class T> std::shared_ptr<const Engine<T>> make_real_columns_engine(EngineKind kind, std::int64_t n) {
  const RealColumnsRun<T> kernel = small_functions<T>().real_columns(n, kind == EngineKind::RealToHalf);
  if (!kernel) return nullptr;
  return std::make_shared<RealColumnsEngine<T>>(kind, n, kernel);
}
template std::shared_ptr<const Engine<float>> make_real_columns_engine<float>(EngineKind, std::int64_t);
template std::shared_ptr<const Engine<double>> make_real_columns_engine<double>(EngineKind, std::int64_t);

}  // namespace trn::fft::host
