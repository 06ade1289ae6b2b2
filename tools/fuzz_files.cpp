// `trnsci fuzz files`: damaged input files: molecules (.xyz), basis sets (.gbs), and the JSON of saved programs,
// runs (`compare`) and reports (`silicon-diff`, `validate --from`). A case takes a valid file, damages it in a few
// places and reads it. Allowed are success and one of the library's errors with a message of one line. What was
// read is used: a basis on its molecule gives finite overlaps, a program is printed, verified and, if the rules
// hold, emitted and timed, a run or a report is compared with the undamaged one. A program's hash would refuse
// nearly every change, so it is often set right first.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include <sys/resource.h>

#include <fmt/format.h>

#include <trn/blas/gemm_program.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/basis.hpp>
#include <trn/mp2/integrals.hpp>
#include <trn/mp2/molecule.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/rand/fill_program.hpp>
#include <trn/rand/transform_program.hpp>
#include <trn/tile/print.hpp>
#include <trn/tile/serialize.hpp>
#include <trn/tile/verify.hpp>

#include "compare.hpp"
#include "fuzz_driver.hpp"
#include "fuzz_random.hpp"
#include "silicon_report.hpp"

namespace trn::tools::fuzz {

namespace {

constexpr const char* kWater =
    "3\nwater\nO  0.000000  0.000000  0.117790\nH  0.000000  0.755453 -0.471161\nH  0.000000 -0.755453 -0.471161\n";
constexpr const char* kBasis =
    "! a comment\nspherical\n\n****\nH 0\nS 3 1.0\n13.01 0.019685\n1.962 0.137977\n0.4446 0.478148\nS 1 1.0\n0.122 "
    "1.0\nP 1 1.0\n0.727 1.0\n****\n"
    "O 0\nSP 3 1.0\n5.0331513 -0.09996723 0.15591627\n1.1695961 0.39951283 0.60768372\n0.3803890 0.70011547 "
    "0.39195739\nS 2 1.00\n130.70932D+00 "
    "0.15432897D+00\n23.808861 0.53532814\nD 1 1.0\n1.185 1.0\n****\n";

constexpr const char* kRun =
    R"([{"version": "1.0", "command": "bench blas.gemm --n 512", "op": "blas.gemm", "executor": "sim:trn2",
"dtype": "fp32", "precision": "native", "shape": {"m": 512, "n": 512, "k": 512}, "seconds": 0.0123,
"modelled_seconds": 2.4e-05, "rate": 9810.5, "peak_bytes": 3145728, "error": null, "ok": true,
"stages": [{"name": "load", "seconds": 1e-3}, {"name": "multiply", "seconds": 2e-3}],
"engines": {"tensor": 0.9, "vector": {"busy": 0.1, "waits": [1, 2, 3]}}},
{"op": "blas.gemm", "executor": "host", "seconds": 0.001, "text": "\u00e9 \ud83d\ude00"}])";
constexpr const char* kReport =
    R"({"format": 1, "executor": "sim:trn2", "machine": "trn2", "sections": [
{"name": "machine", "what": "what runs here", "status": "ok", "core": "NeuronCore-v3",
"cores_per_chip": 8, "simulated": true},
{"name": "exactness", "status": "findings", "probe_exactness": {"exact": true, "reason": ""}, "left_out": 1,
"choices": [{"number": 1, "title": "order of the sum", "status": "ok", "rule": "", "found": "chain", "differing": 0},
{"number": 7, "title": "NaN", "status": "skipped"}]},
{"name": "bits", "status": "ok", "programs": [{"program": "gemm", "status": "ok", "digest": "00ff"}]},
{"name": "contract", "status": "ok", "items": [{"item": "order", "status": "ok", "answer": "kept"}]},
{"name": "toolchain", "status": "failed", "error": "no compiler",
"kernels": [{"kernel": "copy", "status": "ok", "tensors": 2}]},
{"name": "cores", "status": "ok", "cores": 2},
{"name": "time", "status": "ok", "measured_by": "model", "rows": [
{"kernel": "empty", "constant": "launch", "constant_us": 8.3, "count": 1, "measured_us": 9.5, "modelled_us": 8.3},
{"kernel": "copies", "constant": "dma start", "constant_us": 1.3, "count": 16, "measured_us": 47,
"modelled_us": 40.25}]}]})";

// Words that numbers are replaced by.
constexpr const char* kNumbers[] = {"0",
                                    "-1",
                                    "-0",
                                    "1e400",
                                    "-1e400",
                                    "1e308",
                                    "1e-320",
                                    "nan",
                                    "inf",
                                    "-inf",
                                    "NaN",
                                    "99999999999999999999",
                                    "9223372036854775807",
                                    "-9223372036854775808",
                                    "4294967296",
                                    "2147483648",
                                    "1000000000",
                                    "0x10",
                                    "1.5",
                                    "1,5",
                                    "+",
                                    "1e",
                                    "--3",
                                    "1D+400",
                                    ""};
constexpr const char* kJson[] = {
    "null",   "true",       "false",       "[]",      "{}",   "\"\"", "\"text\"", "\"bits:7ff0000000000000\"",
    "[[[]]]", "{\"a\": 1}", "\"\\u0000\"", "\"\\n\"", "1e999"};

std::size_t line_start(const std::string& text, std::size_t at) {
  const std::size_t found = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return found == std::string::npos ? 0 : found + 1;
}
std::size_t line_end(const std::string& text, std::size_t at) {
  const std::size_t found = text.find('\n', at);
  return found == std::string::npos ? text.size() : found + 1;
}
bool in_word(char c) { return c > ' ' && c != ',' && c != '[' && c != ']' && c != '{' && c != '}'; }

// One change; `json`: of a program.
std::string damage(std::string text, Random& r, bool json, std::string& what) {
  if (text.empty()) return text;
  const std::size_t at = r.index(text.size()), from = line_start(text, at), to = line_end(text, at);
  switch (r.below(12)) {
    case 0:
      what += fmt::format(" cut at {}", at);
      return text.substr(0, at);
    case 1: {
      const int bit = static_cast<int>(r.below(8));
      what += fmt::format(" bit {} of {}", bit, at);
      text[at] = static_cast<char>(text[at] ^ (1 << bit));
      return text;
    }
    case 2:
      what += fmt::format(" line at {} twice", from);
      return text.insert(from, text.substr(from, to - from));
    case 3:
      what += fmt::format(" no line at {}", from);
      return text.erase(from, to - from);
    case 4: {
      const std::size_t other = r.index(text.size()), begin = line_start(text, other), end = line_end(text, other);
      what += fmt::format(" line of {} at {}", begin, from);
      return text.insert(from, text.substr(begin, end - begin));
    }
    case 5: {
      const std::size_t count = static_cast<std::size_t>(r.size(300'000));
      const char c = r.pick({'[', '{', ' ', '\n', '9', 'x', '"', '\0', '\xff', '\x1b', '*'});
      what += fmt::format(" {} times {:#x} at {}", count, static_cast<unsigned char>(c), at);
      return text.insert(at, count, c);
    }
    case 6: {
      const std::size_t count = std::min(text.size() - at, static_cast<std::size_t>(r.size(2000)));
      what += fmt::format(" without {} at {}", count, at);
      return text.erase(at, count);
    }
    case 7: {
      std::string bytes;
      for (std::int64_t k = r.size(40); k > 0; --k) bytes += static_cast<char>(r.below(256));
      what += fmt::format(" {} random bytes at {}", bytes.size(), at);
      return text.insert(at, bytes);
    }
    case 8:
      what += " line ends with a carriage return";
      return text.insert(to > from ? to - 1 : to, "\r");
    default: {  // a word becomes another
      std::size_t begin = at, end = at;
      while (begin > 0 && in_word(text[begin - 1])) --begin;
      while (end < text.size() && in_word(text[end])) ++end;
      const std::string word =
          json && r.chance(3) ? kJson[r.index(std::size(kJson))] : kNumbers[r.index(std::size(kNumbers))];
      what += fmt::format(" '{}' at {}", word, begin);
      return text.replace(begin, end - begin, word);
    }
  }
}

std::string damaged(std::string text, Random& r, bool json, std::string& what) {
  for (std::int64_t count = r.below(4); count >= 0; --count) text = damage(std::move(text), r, json, what);
  return text;
}

// Runs `work`; errors of the library are answers, if their message is one line of a readable length. `lists`: the
// message may go on with a list, as the allocator's does.
template <class Work> void answered(Work work, bool lists = false) {
  try {
    work();
  } catch (const InternalError& e) {
    throw Finding{fmt::format("an internal error: {}", e.what())};
  } catch (const Error& e) {
    const std::string text = e.what();
    if (lists) return;
    if (text.find('\n') != std::string::npos) throw Finding{"a message of several lines: " + text};
    if (text.size() > 1000)
      throw Finding{fmt::format("a message of {} characters: {}", text.size(), text.substr(0, 100))};
    if (text.empty()) throw Finding{"a message without text"};
  } catch (const std::exception& e) {
    throw Finding{fmt::format("an exception that is none of the library's: {}", e.what())};
  }
}

void run_molecule(Random& r, Current& current) {
  const std::string text = damaged(kWater, r, false, current.what);
  const int charge =
      r.chance(8) ? r.pick({std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), -1000, 11}) : 0;
  answered([&] {
    const mp2::Molecule m = mp2::parse_xyz(text, "water.xyz", {.charge = charge});
    (void)m.formula();
    if (!std::isfinite(m.nuclear_repulsion())) throw Finding{"the nuclear repulsion is not finite"};
    (void)mp2::spin_counts(m, 1);
  });
}

void run_basis(Random& r, Current& current) {
  const std::string text = damaged(kBasis, r, false, current.what);
  static const mp2::Molecule water = mp2::parse_xyz(kWater, "water.xyz", {});
  answered([&] {
    const mp2::Basis basis(mp2::parse_gaussian94(text, "mine.gbs"), water);
    if (basis.size() > 200) return;
    const mp2::Dense s = mp2::overlap(basis);
    for (std::int64_t i = 0; i < s.rows; ++i) {
      for (std::int64_t j = 0; j < s.rows; ++j) {
        if (!std::isfinite(s(i, j))) throw Finding{fmt::format("overlap ({}, {}) is {}", i, j, s(i, j))};
      }
      if (!(s(i, i) > 0.1 && s(i, i) < 10)) throw Finding{fmt::format("function {} has the norm {}", i, s(i, i))};
    }
  });
}

const std::vector<std::string>& programs() {
  static const std::vector<std::string> all = [] {
    const tile::Machine& m = tile::machine("trn2");
    return std::vector<std::string>{
        tile::serialize(trn::rand::fill_program({.count = 5}, m)),
        tile::serialize(trn::rand::transform_program({.count = 7}, m)),
        tile::serialize(blas::gemm_program({.m = 130, .n = 20, .k = 140, .am = 140, .bk = 20, .cm = 20}, m)),
        tile::serialize(blas::gemm_program(
            {.in = DType::BFloat16, .out = DType::BFloat16, .m = 4, .n = 3, .k = 5, .am = 5, .bk = 3, .cm = 3}, m))};
  }();
  return all;
}

// The text with the hash that reading it asks for.
std::string with_its_hash(const std::string& text) {
  try {
    (void)tile::deserialize(text);
  } catch (const InvalidArgument& e) {
    const std::string message = e.what();
    const std::size_t stored = message.find("the stored hash is '"), own = message.find("' but the program's is '");
    if (stored == std::string::npos || own == std::string::npos) return text;
    const std::size_t begin = stored + 20;
    const std::string old = "\"hash\": \"" + message.substr(begin, own - begin) + "\"";
    const std::size_t at = text.find(old);
    return at == std::string::npos
               ? text
               : std::string(text).replace(at, old.size(), "\"hash\": \"" + message.substr(own + 24, 16) + "\"");
  } catch (...) {  // reported by the case itself
  }
  return text;
}

void run_program(Random& r, Current& current) {
  const std::size_t which = r.index(programs().size());
  current.what += fmt::format(" {}", which);
  std::string text = damaged(programs()[which], r, true, current.what);
  if (!r.chance(4)) text = with_its_hash(text);
  std::optional<tile::Program> read;
  answered([&] {
    const tile::Program program = tile::deserialize(text);
    current.operation = "program that could be read";
    current.what += " read;";
    (void)tile::print(program);
    if (tile::deserialize(tile::serialize(program)) != program)
      throw Finding{"written and read again, it is another program"};
    read = program;
  });
  if (!read) return;
  const tile::Program& program = *read;
  for (const tile::Machine& machine : tile::machines()) {
    answered(
        [&] {
          if (!tile::verify(program, machine).empty()) return;
          (void)neuron::emit_nki(program);
          const bool scheduled = std::ranges::none_of(
              program.instructions(), [](const tile::Instruction& i) { return i.engine == tile::Engine::Any; });
          if (scheduled && program.dynamic_instructions() < 100'000) (void)neuron::estimate(program, machine, {});
        },
        true);
  }
}

// The same with itself, with the undamaged one on either side.
void run_run(Random& r, Current& current) {
  const std::string text = damaged(kRun, r, true, current.what);
  for (const auto& [a, b] : {std::pair{text, text}, {text, kRun}, {kRun, text}}) {
    answered([&] {
      if (compared_texts(a, b).empty()) throw Finding{"a comparison without text"};
      current.operation = "run that could be read";
    });
  }
}

void run_report(Random& r, Current& current) {
  const std::string text = damaged(kReport, r, true, current.what);
  static const silicon::Json whole = silicon::parse_report(kReport, "whole");
  const auto lines_are_text = [](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      if (line.empty()) throw Finding{"a line without text"};
      if (line.find("inf us") != std::string::npos || line.find("nan us") != std::string::npos)
        throw Finding{"a time that is none: " + line};
    }
  };
  answered([&] {
    const silicon::Json report = silicon::parse_report(text, "report.json");
    current.operation = "report that could be read";
    for (const auto& [a, b] : {std::pair{&report, &report}, {&report, &whole}, {&whole, &report}}) {
      const silicon::Comparison found = silicon::compare(*a, *b);
      lines_are_text(found.differences);
      lines_are_text(found.not_compared);
    }
    lines_are_text(silicon::moved_constants(report));
  });
}

struct Kind {
  const char* name;
  void (*run)(Random&, Current&);
};
constexpr Kind kKinds[] = {{"molecule", run_molecule},
                           {"basis", run_basis},
                           {"program", run_program},
                           {"run", run_run},
                           {"report", run_report}};
constexpr const char* kNames = "molecule, basis, program, run or report";

struct Arguments {
  Span span;
  std::string only;
};

void run(const Arguments& a) {
  std::vector<Kind> kinds;
  for (const Kind& k : kKinds) {
    if (a.only.empty() || a.only == k.name) kinds.push_back(k);
  }
  require(!kinds.empty(), "fuzz: no kind of file '{}'; choose {}", a.only, kNames);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit{std::uint64_t{8} << 30,
                     std::uint64_t{8} << 30};  // an absurd allocation becomes std::bad_alloc, a finding
  setrlimit(RLIMIT_AS, &limit);
#endif
  drive(a.span, "trnsci fuzz files" + (a.only.empty() ? "" : " --only " + a.only),
        [&](std::uint64_t seed, Current& current) {
          Random r(seed);
          const Kind& kind = kinds[r.index(kinds.size())];
          current.operation = kind.name;
          current.what = kind.name;
          kind.run(r, current);
        });
}

}  // namespace

void add_fuzz_files(Command& parent) {
  Command sub = parent.add("files", "damaged molecules, basis sets, saved programs, runs and reports");
  auto a = std::make_shared<Arguments>();
  add_span(sub, a->span);
  sub.text("--only", a->only, kNames);
  sub.run([a] { run(*a); });
}

}  // namespace trn::tools::fuzz
