// The host's Body: walks the stages of a transform and runs the 1-D engines. Counterpart of nothing on the device:
// there fft.c2c is one program.
//
// Signs. An engine knows the forward transform only. The inverse of complex lines exchanges real and imaginary
// addresses on both sides (lines.hpp). Of real ones it is the conjugate of the forward one: RealToComplex forwards and
// changes the sign of the imaginary parts, ComplexToReal inverts and turns its rows round, y(n - j) for y(j); both
// touch a block while it is in the cache. Only SciPy's ihfft and hfft ask for these two.
//
// Bound. A pass multiplies every line by a DFT matrix, sqrt(n) times a unitary one, so the relative errors of the
// passes add: the product of (1 + the engine's bound), and factor_bound() for the factor. Half spectra count with their
// mirror images, line by line, until a RealToComplex result is measured over the half alone: its norm is at least
// 1/sqrt(2) of the whole's, so the bound grows by sqrt(2).
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <trn/core/error.hpp>

#include "../parallel.hpp"
#include "boxes.hpp"
#include "columns.hpp"
#include "engine_way.hpp"
#include "line_plan.hpp"
#include "stages.hpp"
#include "tiny.hpp"

namespace trn::fft::host {

template <class T> double direct_sum_bound(std::int64_t n) {
  const double u = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
  double sum = 0;
  const auto add = [&](std::int64_t p) { sum += (static_cast<double>(p) + 4) * std::sqrt(static_cast<double>(p)) * u; };
  for (std::int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) add(p);
  }
  if (n > 1) add(n);
  return sum;
}
template double direct_sum_bound<float>(std::int64_t);
template double direct_sum_bound<double>(std::int64_t);

namespace {

constexpr std::int64_t kBlockBytes = 256 << 10;  // half of a common L2, the engine's own buffers need the rest
constexpr std::int64_t kUnitBytes =
    2 << 20;  // of work for each thread: what a third cache keeps until it is read again
constexpr std::int64_t kFewPoints =
    512;  // below, engines for single lines: they need no scratch and next to no time to begin
constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

template <class T> class HostBody final : public detail::Body {
 public:
  HostBody(const Problem& problem, Way way)
      : problem_(problem),
        way_(way),
        factor_(static_cast<double>(problem.factor)),
        threads_(std::max(omp_get_max_threads(), 1)) {
    std::int64_t points = problem_.axes.size() == 1 ? kFewPoints : 1;  // of several axes
    for (const auto* dims : {&problem_.axes, &problem_.batch}) {
      for (const Dimension& d : *dims) points = std::min(points * d.extent, kFewPoints);
    }
    Engines engines;
    const auto path = [&](Working working) {
      return make_path(plan_walk(problem, kBlockBytes, threads_ * kUnitBytes, working), points, engines);
    };
    usual_ = path(Working::Apart);
    if (works_in_place(problem)) in_place_ = path(Working::InPlace);
    // One axis is one pass over all lines: nothing to walk.
    if (problem_.axes.size() == 1) {
      only_ = &usual_.walk.stages.front().passes.front();
      only_engine_ = usual_.runs.front().engines.front().get();
      // The other direction of a real transform needs a pass more (run_lines).
      const bool inverse = problem_.direction == Direction::Inverse, complex = problem_.kind == Kind::ComplexToComplex;
      const bool alone = complex || inverse == (problem_.kind == Kind::ComplexToReal);
      if (alone && problem_.input_format == Format::Interleaved && problem_.output_format == Format::Interleaved)
        direct_ = only_engine_->direct(only_->from_stride, only_->to_stride, only_->batch, inverse, factor_, threads_);
    } else {
      direct_ = make_chain();
    }
  }
  HostBody(const HostBody&) = delete;
  HostBody& operator=(const HostBody&) = delete;

  detail::Direct direct() const override { return {direct_.run, direct_.context.get()}; }
  std::int64_t workspace_bytes() const override { return std::max(usual_.bytes(), in_place_.bytes()); }

  Accuracy accuracy() const override {
    double growth = 1;
    for (const StageRun& run : usual_.runs) {
      for (const auto& engine : run.engines) growth *= 1 + engine->bound();
    }
    growth *= 1 + factor_bound(problem_);
    const double half = problem_.kind == Kind::RealToComplex ? std::sqrt(2.0) : 1;
    return {Mode::Native, 1, (growth - 1) * half};
  }

  void execute(const Executor&, const Operands& o) const override {
    const int threads = threads_for_call(threads_);
    auto* work = static_cast<std::byte*>(o.workspace);
    if (only_) return run_lines(*only_, *only_engine_, only_->batch, o.in, o.out, factor_, work, threads);
    const bool in_place = o.in.re == o.out.re && !in_place_.runs.empty();
    const Path& path = in_place ? in_place_ : usual_;
    const std::vector<WalkDim>& units = path.walk.units;
    std::vector<std::int64_t> index(units.size(), 0);  // often none, and then no allocation
    for (;;) {
      Side places[3] = {o.in, o.out, in_place ? o.in : Side{work, work + sizeof(T)}};
      for (std::size_t d = 0; d < index.size(); ++d) {
        for (const int p : {0, 1}) places[p] = moved(places[p], index[d] * units[d].stride[p]);
      }
      for (std::size_t s = 0; s < path.walk.stages.size(); ++s)
        run_stage(path, s, places, work + path.shared_bytes, threads);
      std::size_t d = index.size();
      while (d > 0 && ++index[d - 1] == units[d - 1].extent) index[--d] = 0;
      if (d == 0) return;
    }
  }

 private:
  // What a stage needs at run time, found when the plan is made.
  struct StageRun {
    std::int64_t blocks = 1, work_bytes = 0;
    std::vector<std::shared_ptr<const Engine<T>>> engines;  // of each pass
    bool parallel = false;                                  // threads take blocks, else lines
    std::int64_t share = 0;                                 // scratch of a block, in bytes
  };
  struct Path {
    Walk walk;
    std::vector<StageRun> runs;
    std::int64_t shared_bytes = 0, stage_bytes = 0;
    [[nodiscard]] std::int64_t bytes() const { return shared_bytes + stage_bytes; }
  };
  // Engines are made once for a length; passes in the cache and passes over memory may want different ones.
  using Engines = std::map<std::tuple<EngineKind, std::int64_t, bool, Way>, std::shared_ptr<const Engine<T>>>;

  [[nodiscard]] Path make_path(Walk walk, std::int64_t points, Engines& engines) const {
    Path path{std::move(walk), {}, 0, 0};
    path.shared_bytes = aligned(path.walk.unit_work_reals * static_cast<std::int64_t>(sizeof(T)));
    for (const Stage& stage : path.walk.stages) {
      StageRun run{stage.blocks(), aligned(stage.work_reals * static_cast<std::int64_t>(sizeof(T))), {}};
      std::int64_t scratch = 0;
      for (const Pass& pass : stage.passes) {
        auto& engine =
            engines[{pass.kind, length(pass),
                     may_be_wide(length(pass), 2 * length(pass) * lines(pass) * static_cast<std::int64_t>(sizeof(T))),
                     way(pass)}];
        if (!engine)
          engine = make_engine<T>(
              pass.kind, length(pass),
              run.blocks == 1 && points < kFewPoints ? std::min<std::int64_t>(lines(pass), 4) : lines(pass), way(pass));
        run.engines.push_back(engine);
      }
      run.parallel = threads_ > 1 && run.blocks >= threads_;
      for (const auto& engine : run.engines)
        scratch = std::max(scratch, aligned(engine->scratch_bytes(run.parallel ? 1 : threads_)));
      run.share = run.work_bytes + scratch;
      path.stage_bytes = std::max(path.stage_bytes, run.parallel ? threads_ * run.share : run.share);
      path.runs.push_back(std::move(run));
    }
    return path;
  }
  [[nodiscard]] std::int64_t length(const Pass& pass) const { return problem_.axes[pass.axis].extent; }
  [[nodiscard]] Way way(const Pass& pass) const {
    return way_ == Way::Quickest || pass.axis + 1 == problem_.axes.size() ? way_ : Way::Columns;
  }
  [[nodiscard]] static std::int64_t lines(const Pass& pass) { return line_count(pass.batch); }
  [[nodiscard]] static Side moved(const Side& side, std::int64_t reals) {
    return {static_cast<T*>(side.re) + reals, side.im ? static_cast<T*>(side.im) + reals : nullptr};
  }

  void run_stage(const Path& path, std::size_t s, const Side (&places)[3], std::byte* scratch, int threads) const {
    const StageRun& run = path.runs[s];
    if (threads == 1 || !run.parallel) {
      for (std::int64_t b = 0; b < run.blocks; ++b) run_block(path, s, b, places, scratch, run.parallel ? 1 : threads);
      return;
    }
    for_pieces(run.blocks, threads,
               [&](std::int64_t b, int worker) { run_block(path, s, b, places, scratch + worker * run.share, 1); });
  }

  void run_block(const Path& path, std::size_t s, std::int64_t block, const Side (&places)[3], std::byte* scratch,
                 int threads) const {
    const Stage& stage = path.walk.stages[s];
    const StageRun& run = path.runs[s];
    Side at[3] = {places[0], places[1], places[2]};
    const bool own = stage.work_reals > 0;
    if (own) at[2] = {scratch, scratch + sizeof(T)};
    std::int64_t count = stage.chunk.extent;
    if (run.blocks > 1) {
      const std::int64_t chunks = (stage.chunk.extent + stage.chunk_size - 1) / stage.chunk_size;
      const std::int64_t start = block % chunks * stage.chunk_size;
      count = std::min(stage.chunk_size, stage.chunk.extent - start);
      std::int64_t rest = block / chunks;
      const auto move = [&](const WalkDim& d, std::int64_t index) {
        for (const int p : {0, 1, 2}) {
          if (p < 2 || !own) at[p] = moved(at[p], index * d.stride[p]);
        }
      };
      move(stage.chunk, start);
      for (std::size_t d = stage.loops.size(); d-- > 0; rest /= stage.loops[d].extent)
        move(stage.loops[d], rest % stage.loops[d].extent);
    }
    const bool last_stage = s + 1 == path.walk.stages.size();
    for (std::size_t i = 0; i < stage.passes.size(); ++i) {
      const Pass& pass = stage.passes[i];
      const double factor = last_stage && i + 1 == stage.passes.size() ? factor_ : 1;
      const Side &from = at[static_cast<int>(pass.from)], &to = at[static_cast<int>(pass.to)];
      if (pass.chunked == Pass::kNone || pass.batch[pass.chunked].count == count * pass.per_chunk) {
        run_lines(pass, *run.engines[i], pass.batch, from, to, factor, scratch + run.work_bytes, threads);
      } else {
        std::vector<LineBatch> shorter = pass.batch;
        shorter[pass.chunked].count = count * pass.per_chunk;
        run_lines(pass, *run.engines[i], shorter, from, to, factor, scratch + run.work_bytes, threads);
      }
    }
  }

  void run_lines(const Pass& pass, const Engine<T>& engine, const std::vector<LineBatch>& batch, Side from, Side to,
                 double factor, std::byte* scratch, int threads) const {
    const bool inverse = problem_.direction == Direction::Inverse;
    if (pass.kind == EngineKind::Complex && inverse) {
      std::swap(from.re, from.im);
      std::swap(to.re, to.im);
    }
    const Lines in{from.re, from.im, pass.from_stride}, out{to.re, to.im, pass.to_stride};
    engine.run(in, out, batch, factor, scratch, threads);
    if (pass.kind == EngineKind::RealToHalf && inverse) conjugate(out, batch, length(pass) / 2 + 1);
    if (pass.kind == EngineKind::HalfToReal && !inverse) turn_round(out, batch, length(pass));
  }

  // Calls line(offset) for every line of the output side.
  template <class F> static void each_line(const std::vector<LineBatch>& batch, const F& line) {
    std::vector<std::int64_t> index(batch.size(), 0);
    for (;;) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < batch.size(); ++d) offset += index[d] * batch[d].output_distance;
      line(offset);
      std::size_t d = batch.size();
      while (d > 0 && ++index[d - 1] == batch[d - 1].count) index[--d] = 0;
      if (d == 0) return;
    }
  }
  static void conjugate(const Lines& out, const std::vector<LineBatch>& batch, std::int64_t points) {
    each_line(batch, [&](std::int64_t offset) {
      T* im = static_cast<T*>(out.im) + offset;
      for (std::int64_t k = 0; k < points; ++k) im[k * out.stride] = -im[k * out.stride];
    });
  }
  static void turn_round(const Lines& out, const std::vector<LineBatch>& batch, std::int64_t n) {
    each_line(batch, [&](std::int64_t offset) {
      T* x = static_cast<T*>(out.re) + offset;
      for (std::int64_t j = 1; j < n - j; ++j) std::swap(x[j * out.stride], x[(n - j) * out.stride]);
    });
  }

  // Small transforms: one block whose passes are all whole calls, in a row, with at most a little work between them.
  static constexpr std::int64_t kChainBytes = 8 << 10;
  struct Chain {
    struct Link {
      DirectLines pass;
      Place from, to;
    };
    std::vector<Link> links;
  };
  [[nodiscard]] DirectLines make_chain() const {
    const bool interleaved =
        problem_.input_format == Format::Interleaved && problem_.output_format == Format::Interleaved;
    if (!interleaved || conjugated() || usual_.runs.size() != 1 || usual_.runs.front().blocks != 1 ||
        usual_.runs.front().work_bytes > kChainBytes)
      return {};
    auto chain = std::make_shared<Chain>();
    const StageRun& run = usual_.runs.front();
    const auto& passes = usual_.walk.stages.front().passes;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const double factor = i + 1 == passes.size() ? factor_ : 1;
      DirectLines pass = run.engines[i]->direct(passes[i].from_stride, passes[i].to_stride, passes[i].batch,
                                                problem_.direction == Direction::Inverse, factor, threads_);
      if (!pass.run) pass = engine_call(passes[i], run.engines[i], factor);
      if (!pass.run) return {};
      chain->links.push_back({pass, passes[i].from, passes[i].to});
    }
    return {run.work_bytes > 0 ? run_chain<kChainBytes> : run_chain<64>, chain};
  }
  // An engine's run() as a link, if scratch on the stack is enough and threads are not worth it.
  static constexpr std::int64_t kLinkBytes = 16 << 10, kLinkPoints = 1 << 13;
  struct EngineLink {
    std::shared_ptr<const Engine<T>> engine;
    EngineKind kind;
    bool inverse;
    std::int64_t from_stride, to_stride;
    std::vector<LineBatch> batch;
    double factor;
  };
  [[nodiscard]] DirectLines engine_call(const Pass& pass, const std::shared_ptr<const Engine<T>>& engine,
                                        double factor) const {
    if (engine->scratch_bytes(1) > kLinkBytes || lines(pass) * length(pass) > kLinkPoints) return {};
    return {run_engine,
            std::make_shared<EngineLink>(EngineLink{engine, pass.kind, problem_.direction == Direction::Inverse,
                                                    pass.from_stride, pass.to_stride, pass.batch, factor})};
  }
  static void run_engine(const void* context, const void* in, void* out) {
    const auto& link = *static_cast<const EngineLink*>(context);
    alignas(64) std::byte scratch[kLinkBytes];
    T *from = const_cast<T*>(static_cast<const T*>(in)), *to = static_cast<T*>(out);
    Lines input{from, link.kind == EngineKind::RealToHalf ? nullptr : from + 1, link.from_stride},
        output{to, link.kind == EngineKind::HalfToReal ? nullptr : to + 1, link.to_stride};
    if (link.kind == EngineKind::Complex && link.inverse) {
      std::swap(input.re, input.im);
      std::swap(output.re, output.im);
    }
    link.engine->run(input, output, link.batch, link.factor, scratch, 1);
  }
  template <std::int64_t bytes> static void run_chain(const void* context, const void* in, void* out) {
    alignas(64) std::byte work[bytes];
    const void* from[3] = {in, out, work};
    void* to[3] = {nullptr, out, work};
    for (const auto& link : static_cast<const Chain*>(context)->links)
      link.pass.run(link.pass.context.get(), from[static_cast<int>(link.from)], to[static_cast<int>(link.to)]);
  }
  // The conjugates of the usual real transforms (ihfft, hfft), which need a pass more.
  [[nodiscard]] bool conjugated() const {
    return problem_.kind != Kind::ComplexToComplex &&
           (problem_.kind == Kind::RealToComplex) == (problem_.direction == Direction::Inverse);
  }

  Problem problem_;
  Way way_;
  double factor_;  // of the problem, for the engines
  int threads_;
  Path usual_, in_place_;  // the second one where it is another, else empty
  const Pass* only_ = nullptr;
  const Engine<T>* only_engine_ = nullptr;
  DirectLines direct_;
};

template <class T> std::shared_ptr<const detail::Body> make_body(const Problem& problem, Way way) {
  if (way == Way::Quickest) {
    if (auto tiny = make_tiny_body<T>(problem)) return tiny;
    if (auto boxes = make_box_body<T>(problem)) return boxes;
  }
  return std::make_shared<HostBody<T>>(problem, way);
}

// The host computes in the operands' type, whatever it is asked for: only Native and targets that it meets are offered.
void check_precision(const Problem& p, const detail::Body& body) {
  if (p.precision.has_target()) {
    const double bound = body.accuracy().bound;
    if (bound <= p.precision.target_error()) return;
    fail<InvalidArgument>(
        "fft.plan: the target error is {:.3g}, the bound of this transform in {} on the host is {:.3g}; ask for no "
        "less or use float64",
        p.precision.target_error(), name(p.real), bound);
  }
  if (p.precision.mode() == Mode::Native) return;
  fail<NotImplemented>(
      "fft.plan: precision '{}' is not offered on the host, which computes in the operands' own type; use native or a "
      "target",
      name(p.precision.mode()));
}

}  // namespace

BodyPointer build_way(const Executor&, const WayProblem& p) {
  BodyPointer body =
      p.problem.real == DType::Float32 ? make_body<float>(p.problem, p.way) : make_body<double>(p.problem, p.way);
  check_precision(p.problem, *body);
  return body;
}
BodyPointer build(const Executor& executor, const Problem& problem) {
  return build_way(executor, {problem, Way::Quickest});
}
double way_bound(const Executor& executor, const WayBoundArgs& args) {
  return build_way(executor, *args.problem)->accuracy().bound;
}

double plan_bound(const Executor& executor, const PlanBoundArgs& args) {
  return build(executor, *args.problem)->accuracy().bound;
}

void execute(const Executor& executor, const ExecuteArgs& args) { args.body->execute(executor, args.operands); }

}  // namespace trn::fft::host
