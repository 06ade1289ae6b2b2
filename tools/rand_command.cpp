// `trnsci rand`: values of a generator as raw little-endian binary on standard output or in a file, or as text. Values
// are made and written piece by piece, so that any number of them needs little memory and a pipe can be read while it
// fills. When the reader has enough and closes the pipe, the command ends with one line that says so and status 1.
//
// A distribution is one row of kDistributions: its name, the type of its values, and the call that draws them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/core/output_file.hpp>
#include <trn/rand/bernoulli.hpp>
#include <trn/rand/binomial.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/gamma.hpp>
#include <trn/rand/integers.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/poisson.hpp>
#include <trn/rand/quasi.hpp>
#include <trn/rand/raw32.hpp>
#include <trn/rand/raw64.hpp>
#include <trn/rand/truncated_normal.hpp>
#include <trn/rand/uniform.hpp>
#include <trn/rand/von_mises.hpp>
#include <type_traits>

#include "commands.hpp"
#include "near_names.hpp"
#include "options.hpp"

namespace trn::tools {

namespace {

using rand::Generator;
static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

// The parameters of all distributions; each takes those it has.
struct Parameters {
  double mean = 0, stddev = 1, low = -std::numeric_limits<double>::infinity(),
         high = std::numeric_limits<double>::infinity(), lambda = 1, rate = 1, location = 0, scale = 1, shape = 1;
  double df = 1, df2 = 1, a = 1, b = 1, p = 0.5, kappa = 1;
  std::int64_t trials = 1, good = 1, bad = 1, sample = 1, from = 0, to = 100;
  std::string interval = "open-closed";
  [[nodiscard]] rand::Interval chosen_interval() const {
    return interval == "half-open" ? rand::Interval::HalfOpen : rand::Interval::OpenClosed;
  }
};

struct Arguments {
  std::string generator = "philox4x32-10", ordering = "default", distribution = "raw32", executor = "host", out;
  std::uint64_t seed = 0, stream = 0, offset = 0;
  std::int64_t dimensions = 1, n = 0, interleave = 1;
  bool text = false;
  Parameters parameters;
};

bool to_output(const std::string& path) { return path.empty() || path == "-"; }

// Where the bytes go: standard output, a file that appears whole at the end, or a pipe or device that is written to as
// it is.
class Sink {
 public:
  explicit Sink(const std::string& path) : path_(path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (to_output(path)) {
      stream_ = stdout;
    } else if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      stream_ = std::fopen(path.c_str(), "wb");
      require(stream_ != nullptr, "rand: --output {}: {}", path, std::strerror(errno));
    } else {
      file_.emplace("rand: --output", path);
    }
  }
  ~Sink() {
    if (stream_ != nullptr && stream_ != stdout) std::fclose(stream_);
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  void write(const void* bytes, std::size_t count) {
    if (file_) return file_->write({static_cast<const char*>(bytes), count});
    if (std::fwrite(bytes, 1, count, stream_) == count && std::fflush(stream_) == 0) return;
    fail<DeviceError>("rand: writing to {}: {}", to_output(path_) ? "standard output" : path_, std::strerror(errno));
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::string path_;
  std::FILE* stream_ = nullptr;
  std::optional<OutputFile> file_;
};

// One value a line; the shortest text that reads back as the same value.
template <class T> std::string as_text(const std::vector<T>& values) {
  fmt::memory_buffer text;
  for (const T v : values) fmt::format_to(std::back_inserter(text), "{}\n", v);
  return {text.data(), text.size()};
}

// n values in pieces; points of several coordinates come dimension by dimension and are one piece. Several generators
// take turns, value by value.
template <class T, class Draw> void stream(const Arguments& arguments, std::vector<Generator>& generators, Draw draw) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 22;
  const Executor executor = Executor::open(arguments.executor);
  const bool whole = generators[0].state().dimensions > 1;
  const auto turns = static_cast<std::int64_t>(generators.size());
  const std::int64_t piece = std::min(arguments.n, whole ? arguments.n : (kPiece + turns - 1) / turns * turns);
  std::optional<Sink> sink;  // opened after the first draw: a refused one leaves an older file as it is
  for (std::int64_t done = 0; done < arguments.n;) {
    const std::int64_t count = std::min(piece, arguments.n - done);
    std::vector<T> host;
    for (std::int64_t g = 0; g < turns; ++g) {
      const std::int64_t mine = (count + turns - 1 - g) / turns;  // places g, g + turns, ...
      if (mine == 0) break;
      const Array<T> values(executor, {mine});
      draw(executor, generators[static_cast<std::size_t>(g)], values.view(), arguments.parameters);
      std::vector<T> drawn = values.to_host();
      if (turns == 1) {
        host = std::move(drawn);
        break;
      }
      host.resize(static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < mine; ++i)
        host[static_cast<std::size_t>(i * turns + g)] = drawn[static_cast<std::size_t>(i)];
    }
    if (!sink) sink.emplace(arguments.out);
    if (arguments.text) {
      const std::string text = as_text(host);
      sink->write(text.data(), text.size());
    } else {
      sink->write(host.data(), host.size() * sizeof(T));
    }
    done += count;
  }
  if (!sink) sink.emplace(arguments.out);  // no values: an empty file
  sink->commit();
}

struct Distribution {
  const char* name;
  const char* values;      // the type written
  const char* parameters;  // the options it takes
  std::function<void(const Arguments&, std::vector<Generator>&)> run;
};

template <class T, class Draw>
Distribution row(const char* name, const char* values, const char* parameters, Draw draw) {
  return {name, values, parameters, [draw](const Arguments& a, std::vector<Generator>& g) { stream<T>(a, g, draw); }};
}

#define TRN_DRAW(call) \
  [](const Executor& e, Generator& g, const auto& out, [[maybe_unused]] const Parameters& o) { call; }

const std::vector<Distribution>& distributions() {
  using namespace rand;
  static const std::vector<Distribution> all{
      row<std::uint32_t>("raw32", "uint32", "", TRN_DRAW(raw32(e, g, out))),
      row<std::uint64_t>("raw64", "uint64", "", TRN_DRAW(raw64(e, g, out))),
      row<float>("uniform", "float32", "--interval", TRN_DRAW(uniform(e, g, out, o.chosen_interval()))),
      row<double>("uniform_double", "float64", "--interval", TRN_DRAW(uniform(e, g, out, o.chosen_interval()))),
      row<float>("normal", "float32", "--mean --stddev", TRN_DRAW(normal(e, g, out, {o.mean, o.stddev}))),
      row<double>("normal_double", "float64", "--mean --stddev", TRN_DRAW(normal(e, g, out, {o.mean, o.stddev}))),
      row<float>("log_normal", "float32", "--mean --stddev", TRN_DRAW(log_normal(e, g, out, {o.mean, o.stddev}))),
      row<double>("log_normal_double", "float64", "--mean --stddev",
                  TRN_DRAW(log_normal(e, g, out, {o.mean, o.stddev}))),
      row<float>("exponential", "float32", "--rate", TRN_DRAW(exponential(e, g, out, {o.rate}))),
      row<float>("laplace", "float32", "--location --scale", TRN_DRAW(laplace(e, g, out, {o.location, o.scale}))),
      row<float>("weibull", "float32", "--shape --scale", TRN_DRAW(weibull(e, g, out, {o.shape, o.scale}))),
      row<float>("cauchy", "float32", "--location --scale", TRN_DRAW(cauchy(e, g, out, {o.location, o.scale}))),
      row<float>("truncated_normal", "float32", "--mean --stddev --low --high",
                 TRN_DRAW(truncated_normal(e, g, out, {o.mean, o.stddev, o.low, o.high}))),
      row<float>("gamma", "float32", "--shape --scale", TRN_DRAW(gamma(e, g, out, {o.shape, o.scale}))),
      row<float>("chi_squared", "float32", "--df", TRN_DRAW(chi_squared(e, g, out, {o.df}))),
      row<float>("beta", "float32", "--a --b", TRN_DRAW(beta(e, g, out, {o.a, o.b}))),
      row<float>("student_t", "float32", "--df", TRN_DRAW(student_t(e, g, out, {o.df}))),
      row<float>("fisher_f", "float32", "--df --df2", TRN_DRAW(fisher_f(e, g, out, {o.df, o.df2}))),
      row<float>("von_mises", "float32", "--mean --kappa", TRN_DRAW(von_mises(e, g, out, {o.mean, o.kappa}))),
      row<std::uint32_t>("bernoulli", "uint32", "--p", TRN_DRAW(bernoulli(e, g, out, {o.p}))),
      row<std::uint32_t>("poisson", "uint32", "--lambda", TRN_DRAW(poisson(e, g, out, {o.lambda}))),
      row<std::uint32_t>("binomial", "uint32", "--trials --p", TRN_DRAW(binomial(e, g, out, {o.trials, o.p}))),
      row<std::uint32_t>("geometric", "uint32", "--p", TRN_DRAW(geometric(e, g, out, {o.p}))),
      row<std::uint32_t>("hypergeometric", "uint32", "--good --bad --sample",
                         TRN_DRAW(hypergeometric(e, g, out, {o.good, o.bad, o.sample}))),
      row<std::int32_t>("integers", "int32", "--from --to", TRN_DRAW(integers(e, g, out, o.from, o.to))),
  };
  return all;
}

#undef TRN_DRAW

std::vector<std::string> generator_names() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(rand::Algorithm::ScrambledHalton); ++i)
    names.emplace_back(rand::name(static_cast<rand::Algorithm>(i)));
  return names;
}

rand::Algorithm algorithm_of(const std::string& text) {
  const std::vector<std::string> names = generator_names();
  const auto at = std::find(names.begin(), names.end(),
                            text == "philox"     ? "philox4x32-10"
                            : text == "threefry" ? "threefry4x32-20"
                                                 : text);
  require(at != names.end(), "rand: --generator {} does not exist; use one of {}{}", text, fmt::join(names, ", "),
          meant(text, names));
  return static_cast<rand::Algorithm>(at - names.begin());
}

const Distribution& distribution_of(const std::string& text) {
  std::vector<std::string> known;
  for (const Distribution& d : distributions()) {
    if (text == d.name) return d;
    known.emplace_back(d.name);
  }
  fail<InvalidArgument>("rand: --dist {} does not exist; use one of {}{}", text, fmt::join(known, ", "),
                        meant(text, known));
}

// A parameter that the distribution does not have would change nothing: better said than ignored.
void check_parameters(const Distribution& d, const std::vector<std::string>& given) {
  const std::string taken = std::string(d.parameters) + " ";
  for (const std::string& option : given) {
    require(taken.find(option + " ") != std::string::npos, "rand: --dist {} takes {}, not {}", d.name,
            *d.parameters == 0 ? "no parameters" : d.parameters, option);
  }
}

// A spread below the smallest float32 would make every value the same.
void check_spread(const Distribution& d, const Parameters& p) {
  const std::string taken = std::string(d.parameters) + " ", values = d.values;
  if (values != "float32") return;
  for (const auto& [option, value] : {std::pair{"--stddev", p.stddev}, {"--scale", p.scale}}) {
    require(taken.find(std::string(option) + " ") == std::string::npos || value == 0 || static_cast<float>(value) != 0,
            "rand: --dist {}: {} {} is 0 as a float32; give at least {:.2g}", d.name, option, value,
            std::numeric_limits<float>::denorm_min());
  }
}

void run(const Arguments& a, const std::vector<std::string>& given) {
  require(!to_output(a.out) || a.text || isatty(STDOUT_FILENO) == 0,
          "rand: standard output is a terminal; add --text, --output FILE or a pipe");
  const rand::Algorithm algorithm = algorithm_of(a.generator);
  const Distribution& distribution = distribution_of(a.distribution);
  check_parameters(distribution, given);
  check_spread(distribution, a.parameters);
  std::vector<Generator> generators;
  for (std::int64_t k = 0; k < a.interleave; ++k) {
    generators.emplace_back(
        rand::State{.algorithm = algorithm,
                    .seed = a.seed,
                    .stream = a.stream + static_cast<std::uint64_t>(k),
                    .position = a.offset,
                    .ordering = a.ordering == "legacy" ? rand::Ordering::Legacy : rand::Ordering::Default,
                    .dimensions = static_cast<std::uint32_t>(a.dimensions),
                    .origin = rand::is_quasi(algorithm) ? 0 : a.offset});
  }
  distribution.run(a, generators);
}

std::string distribution_help() {
  std::string text = "what to draw:";
  for (const Distribution& d : distributions()) {
    text += fmt::format("\n  {} ({}){}{}", d.name, d.values, *d.parameters != 0 ? " " : "", d.parameters);
  }
  return text;
}

}  // namespace

void add_rand(Command& program) {
  Command sub = program.add("rand", "values of a random number generator, as binary or text");
  auto a = std::make_shared<Arguments>();
  Parameters& p = a->parameters;
  sub.text("--generator,--algorithm", a->generator,
           "philox4x32-10 or philox, threefry4x32-20 or threefry, xorwow, mrg32k3a, mt19937, sobol32, "
           "scrambled-sobol32, owen-sobol32, "
           "sobol64, scrambled-sobol64, halton or scrambled-halton")
      .completes(generator_names());
  sub.text("--ordering", a->ordering, "cuRAND's default or legacy ordering", {"default", "legacy"});
  sub.number("--seed", a->seed, "64 bits");
  sub.number("--stream", a->stream, "an independent sequence of the same seed");
  sub.number("--interleave", a->interleave, "streams that take turns value by value, from --stream on", 1, 4096);
  sub.number("--offset,--position", a->offset, "words (quasi-random: points) to leave out");
  sub.number("--dimensions", a->dimensions, "of quasi-random points", 0, 0xffffffff);
  std::vector<std::string> names;
  for (const Distribution& d : distributions()) names.emplace_back(d.name);
  sub.text("--dist", a->distribution, distribution_help()).completes(std::move(names));
  sub.number("--n,--count", a->n, "how many values", 0, kAnyCount).required();
  sub.text("--exec", a->executor, "the executor that draws them");
  sub.text("-o,--output,--out", a->out, "write to this file; - for standard output, as without it");
  sub.flag("--text", a->text, "one value a line, with all its digits");
  std::vector<Option> parameters;
  parameters.push_back(
      sub.text("--interval", p.interval, "open-closed (0, 1] or half-open [0, 1)", {"open-closed", "half-open"}));
  const std::pair<const char*, double*> numbers[] = {
      {"--mean", &p.mean},     {"--stddev", &p.stddev}, {"--low", &p.low},           {"--high", &p.high},
      {"--lambda", &p.lambda}, {"--rate", &p.rate},     {"--location", &p.location}, {"--scale", &p.scale},
      {"--shape", &p.shape},   {"--df", &p.df},         {"--df2", &p.df2},           {"--a", &p.a},
      {"--b", &p.b},           {"--p", &p.p},           {"--kappa", &p.kappa}};
  for (const auto& [name, value] : numbers) {
    parameters.push_back(sub.real(name, *value, "parameter"));
  }
  const std::pair<const char*, std::int64_t*> counts[] = {{"--trials", &p.trials}, {"--good", &p.good},
                                                          {"--bad", &p.bad},       {"--sample", &p.sample},
                                                          {"--from", &p.from},     {"--to", &p.to}};
  for (const auto& [name, value] : counts) {
    parameters.push_back(sub.number(name, *value, "parameter", std::numeric_limits<std::int64_t>::min(), kAnyCount));
  }
  sub.run([a, parameters] {
    std::vector<std::string> given;
    for (const Option& option : parameters) {
      if (option.given()) given.push_back(option.name());
    }
    run(*a, given);
  });
}

}  // namespace trn::tools
