// `trnsci fuzz tile`: random small programs. Each goes through the verifier, the program file and the listing, and is
// run in program order with the race check; unless iterations of a parallel loop get into each other's way, every other
// order must give the same bytes: shuffled, timed, and reordered as a compiler may.
#include "fuzz_tile.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include <fmt/format.h>

#include <trn/core/error.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/print.hpp>
#include <trn/tile/reorder.hpp>
#include <trn/tile/serialize.hpp>
#include <trn/tile/verify.hpp>

#include "fuzz_driver.hpp"
#include "output.hpp"

namespace trn::tools::fuzz {

using namespace trn::tile;

namespace {

using Bytes = std::vector<std::uint8_t>;

// The outputs of one run: y, and z where the program has one, which begins as x.
Bytes output(const Program& program, const std::vector<float>& x, const neuron::SimOptions& options) {
  Bytes y(x.size() * sizeof(float), 0xAB);
  std::vector<float> z = x;
  std::vector<Binding> bindings{{"x", x.data()}, {"y", y.data()}};
  if (std::ranges::any_of(program.tensors(), [](const TensorDecl& t) { return t.name == "z"; }))
    bindings.push_back({"z", z.data()});
  (void)neuron::simulate(program, machine(program.machine()), bindings, options);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(z.data());
  y.insert(y.end(), bytes, bytes + z.size() * sizeof(float));
  return y;
}

void expect_equal(const Bytes& got, const Bytes& expected, const char* what) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (got[i] != expected[i])
      throw Finding{fmt::format("{}: byte {} is {} instead of {}", what, i, got[i], expected[i])};
  }
}

void check_text(const Program& program) {
  const Program back = deserialize(serialize(program));
  if (!(back == program) || back.hash() != program.hash()) throw Finding{"the program file gives another program"};
  if (print(back) != print(program) || print(program).empty()) throw Finding{"the listing of the program differs"};
}

// True when two iterations of a parallel loop touch the same element.
bool races(const Program& program, const std::vector<float>& x, Bytes& y) {
  try {
    y = output(program, x, {.order = neuron::Order::in_order(), .check_races = true});
  } catch (const DeviceError& e) {
    if (e.check() != "hazard-without-edge") throw;
    return true;
  }
  return false;
}

// How many programs that the verifier accepted held each instruction, by machine.
struct Tally {
  std::int64_t tried = 0, rejected = 0;
  std::map<std::string_view, std::array<std::int64_t, kOpcodes>> held;

  void count(const Program& program) {
    std::array<bool, kOpcodes> there{};
    for (const Instruction& i : program.instructions()) there[static_cast<std::size_t>(i.opcode())] = true;
    auto& counts = held[machine(program.machine()).name];
    for (std::size_t o = 0; o < kOpcodes; ++o) counts[o] += there[o] ? 1 : 0;
  }
};

bool has(const Machine& m, Opcode opcode) {
  switch (opcode) {
    case Opcode::RangeSelect:
      return m.range_select;
    case Opcode::NonzeroWithCount:
      return m.nonzero_with_count;
    case Opcode::Exponential:
      return m.vector_exponential;
    case Opcode::QuantizeMx:
    case Opcode::NcMatmulMx:
      return m.microscaling;
    default:
      return true;
  }
}

// From this many cases on every instruction of every machine must have come up.
constexpr std::int64_t kEnough = 300;

void report(Tally& tally) {
  Table table({"programs with", "trn1", "trn2", "trn3"});
  std::string missing;
  for (std::size_t o = 0; o < kOpcodes; ++o) {
    const auto opcode = static_cast<Opcode>(o);
    std::vector<std::string> row{std::string(name(opcode))};
    for (const Machine& m : machines()) {
      const std::int64_t count = tally.held[m.name][o];
      row.push_back(has(m, opcode) ? std::to_string(count) : "-");
      if (has(m, opcode) && count == 0) missing += fmt::format(" {} on {},", name(opcode), m.name);
    }
    table.add(row);
  }
  table.print();
  if (tally.tried < kEnough) return;
  if (!missing.empty())
    fail<Error>("fuzz: in {} programs there was no{} the generator must make it", tally.tried, missing);
  if (2 * tally.rejected > tally.tried) {
    fail<Error>("fuzz: the verifier rejected {} of {} programs; the generator must know the rules better",
                tally.rejected, tally.tried);
  }
}

void one_case(std::uint64_t seed, Current& current, Tally& tally) {
  Random random(seed);
  const Machine& m = machine(random.pick({"trn1", "trn2", "trn3"}));
  current.operation = current.what = fmt::format("program on {}", m.name);
  const Program program = random_program(random, m);
  ++tally.tried;
  if (const auto diagnostics = verify(program, m); !diagnostics.empty()) {
    ++tally.rejected;
    fail<NotImplemented>("{}", diagnostics.front().message);
  }
  tally.count(program);
  check_text(program);
  const std::int64_t elements = element_count(program.tensors().front().shape);
  std::vector<float> x(static_cast<std::size_t>(elements));
  for (float& v : x) v = static_cast<float>(random.uniform(-2, 2));
  Bytes expected;
  if (races(program, x, expected)) {
    current.operation += " with a race";
    return;
  }
  if (program.has_dynamic_loops()) current.operation += ", dynamic loops";
  for (std::uint64_t order = 0; order < 2; ++order) {
    expect_equal(output(program, x, {.order = neuron::Order::shuffled(seed + order)}), expected, "shuffled");
  }
  expect_equal(output(program, x, {.order = neuron::Order::timed()}), expected, "timed");
  const Program other = reorder(program, m);
  verify_or_throw(other, m);
  check_text(other);
  expect_equal(output(other, x, {.order = neuron::Order::in_order()}), expected, "reordered");
  const double seconds = neuron::estimate(program, m).seconds;
  if (!(seconds > 0 && seconds < 1)) throw Finding{fmt::format("an estimate of {} s", seconds)};
  try {
    if (neuron::emit_nki(program).empty()) throw Finding{"an empty kernel"};
  } catch (const NotImplemented&) {
    // a legal program for which NKI has no text
  }
}

}  // namespace

void add_fuzz_tile(Command& parent) {
  Command command = parent.add("tile", "random programs: files, listings, and every order of execution");
  auto span = std::make_shared<Span>();
  add_span(command, *span);
  command.run([span] {
    Tally tally;
    drive(*span, "trnsci fuzz tile", [&](std::uint64_t seed, Current& current) { one_case(seed, current, tally); });
    report(tally);
  });
}

}  // namespace trn::tools::fuzz
