// The sections of silicon-check that need the libraries. Exactness: do small integers come out exact, and the choices.
// Bits: device programs of all libraries at small shapes, the same operands on the executor and on a reference, the
// simulator of the same machine; for a simulator itself, the simulator in a shuffled order.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include <trn/blas/exactness.hpp>
#include <trn/core/array.hpp>
#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <trn/core/event.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/launch.hpp>

#include "neff/sha256.hpp"
#include "operation_line.hpp"
#include "silicon_report.hpp"

namespace trn::tools::silicon {

namespace {

using Bytes = std::vector<std::uint8_t>;

std::vector<std::string> lines() {
  std::vector<std::string> all;
  const auto add = [&](const std::string& operation, const std::vector<std::string>& options) {
    for (const std::string& o : options) all.push_back(operation + " " + o);
  };
  for (const char* size : {"--m 1 --n 1 --k 1", "--m 5 --n 7 --k 9", "--m 64 --n 80 --k 96", "--m 128 --n 512 --k 128",
                           "--m 129 --n 130 --k 257"}) {
    for (const char* dtype : {"--dtype fp32", "--dtype bf16", "--dtype fp16", "--dtype tf32", "--precision tf32",
                              "--precision bf16", "--precision tf32x3", "--precision bf16x6"}) {
      all.push_back(fmt::format("blas.gemm {} {}", size, dtype));
    }
  }
  add("blas.gemm",
      {"--m 70 --n 50 --k 90 --op-a T", "--m 70 --n 50 --k 90 --op-b T", "--m 70 --n 50 --k 90 --op-a T --op-b T",
       "--m 40 --n 30 --k 50 --precision exact --dtype fp64", "--m 40 --n 30 --k 50 --precision exact"});
  add("blas.gemm_batched",
      {"--m 17 --n 19 --k 23 --count 3", "--m 32 --n 32 --k 32 --count 5", "--m 9 --n 9 --k 9 --count 2 --listed"});
  add("blas.trsm",
      {"--m 20 --n 5", "--m 64 --n 33", "--m 130 --n 7 --op T", "--m 70 --n 9 --uplo U --precision bf16x6"});
  add("blas.trsm_batched", {"--m 8 --n 3 --count 4", "--m 33 --n 2 --count 2"});
  add("blas.pair_energy", {"--nocc 3 --naux 20 --nvir 12", "--nocc 2 --naux 33 --nvir 17 --precision bf16x6"});
  for (const char* op : {"blas.axpy", "blas.scal", "blas.dot", "blas.asum", "blas.nrm2", "blas.copy", "blas.swap",
                         "blas.rot", "blas.amax", "blas.amin"}) {
    add(op, {"--n 1", "--n 100", "--n 1000", "--n 5000"});
  }
  add("blas.gemv", {"--m 30 --n 40", "--m 200 --n 130", "--m 130 --n 200 --op T"});
  add("blas.ger", {"--m 30 --n 40", "--m 200 --n 130"});
  for (const char* op : {"rand.raw32", "rand.uniform", "rand.bernoulli", "rand.normal", "rand.log_normal",
                         "rand.exponential", "rand.laplace", "rand.weibull", "rand.cauchy"}) {
    add(op, {"--n 64", "--n 1000", "--n 5000 --generator threefry"});
  }
  add("fft.c2c", {"--n 8", "--n 16 --batch 5", "--n 100", "--n 256 --batch 3", "--n 1000", "--n 256 --precision bf16x6",
                  "--n 12 10 --step 1", "--n 12 10 --step 2"});
  add("fft.r2c", {"--n 16", "--n 130 --batch 4"});
  add("fft.c2r", {"--n 16", "--n 256 --batch 2"});
  // Narrow operands; microscaling is trn3's, and not run elsewhere.
  add("blas.scaled_gemm", {"--m 40 --n 30 --k 64", "--m 130 --n 129 --k 256"});
  add("blas.quantize", {"--m 40 --k 64", "--m 130 --k 256"});
  add("blas.mx_gemm", {"--m 128 --n 128 --k 512"});
  add("blas.mx_quantize", {"--m 128 --k 512"});
  for (const char* generator : {"sobol32", "scrambled-sobol32"}) {
    for (const char* op : {"rand.raw32", "rand.uniform"}) {
      add(op, {fmt::format("--n 1000 --generator {}", generator)});
    }
  }
  add("solver.potrf", {"--n 40"});
  add("solver.geqrf", {"--m 40 --n 20"});
  add("sparse.spmm", {"--generate poisson2d:8 --columns 16"});
  add("sparse.sddmm", {"--generate poisson2d:8 --columns 16"});
  add("sparse.attention", {"--queries 64 --heads 2 --kv-heads 1 --d 32 --mask full"});
  add("tensor.einsum", {""});
  add("tensor.permute", {""});
  add("tensor.reduce", {""});
  return all;
}

// The memory of a tensor from its lowest to its highest element.
struct Operand {
  const tile::TensorDecl* tensor;
  OffsetRange range;
  Bytes bytes;
  Operand(const tile::TensorDecl& t, std::uint64_t seed) : tensor(&t), range(offset_range(t.shape, t.strides)) {
    const std::int64_t n = range.highest - range.lowest + 1;
    bytes.resize(static_cast<std::size_t>(n * size_bytes(t.dtype)));
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> values(static_cast<std::size_t>(n));
    // Integers are counts and indices: small ones are legal almost everywhere.
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = is_float(t.dtype) ? normal(random) : static_cast<double>(i % 8);
    from_double(values.data(), t.dtype, bytes.data(), n);
  }
};

// The bytes of all outputs, one after the other.
Bytes run(const Executor& executor, const tile::Program& program) {
  std::vector<Buffer> memory;
  memory.reserve(program.tensors().size());
  std::vector<tile::Argument> arguments;
  std::vector<std::pair<std::size_t, const tile::TensorDecl*>> outputs;
  for (std::size_t i = 0; i < program.tensors().size(); ++i) {
    const tile::TensorDecl& t = program.tensors()[i];
    if (t.kind == tile::TensorKind::Scratch) continue;
    if (t.kind == tile::TensorKind::Input) {  // an output that continues it takes its memory
      bool continued = false;
      for (const tile::TensorDecl& o : program.tensors()) continued = continued || o.alias == t.name;
      if (continued) continue;
    }
    const Operand o(t, i + 1);
    memory.emplace_back(executor, static_cast<std::int64_t>(o.bytes.size()));
    if (t.kind == tile::TensorKind::Input || !t.alias.empty()) {
      copy_bytes(Executor::host(), o.bytes.data(), executor, memory.back().data(), memory.back().bytes());
    }
    if (t.kind == tile::TensorKind::Output) outputs.emplace_back(memory.size() - 1, &t);
    arguments.emplace_back(t.name, memory.back().data(), -o.range.lowest * size_bytes(t.dtype));
  }
  tile::launch(executor, program, arguments);
  Bytes result;
  for (const auto& [index, tensor] : outputs) {
    Bytes all(static_cast<std::size_t>(memory[index].bytes()));
    copy_bytes(executor, memory[index].data(), Executor::host(), all.data(), memory[index].bytes());
    // Elements alone: what lies between them is nobody's.
    const OffsetRange range = offset_range(tensor->shape, tensor->strides);
    const std::int64_t size = size_bytes(tensor->dtype);
    for (std::int64_t i = 0; i < element_count(tensor->shape); ++i) {
      std::int64_t rest = i, offset = -range.lowest;
      for (std::size_t d = tensor->shape.size(); d-- > 0; rest /= tensor->shape[d]) {
        offset += rest % tensor->shape[d] * tensor->strides[d];
      }
      const auto at = all.begin() + offset * size;
      result.insert(result.end(), at, at + size);
    }
  }
  return result;
}

bool has_activation(const tile::Program& program) {
  for (const tile::Instruction& i : program.instructions()) {
    if (i.opcode() == tile::Opcode::Activation || i.opcode() == tile::Opcode::Exponential) return true;
  }
  return false;
}

// Whether any 4 bytes are a NaN of float32; outputs of other types count as such where their bits are.
bool has_nan(const Bytes& bytes) {
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    float value = 0;
    std::memcpy(&value, &bytes[i], 4);
    if (std::isnan(value)) return true;
  }
  return false;
}

// For outputs of one float32 tensor: the largest distance in units of the last place.
std::int64_t largest_ulps(const Bytes& a, const Bytes& b) {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i + 4 <= a.size(); i += 4) {
    std::int32_t x = 0, y = 0;
    std::memcpy(&x, &a[i], 4);
    std::memcpy(&y, &b[i], 4);
    const auto ordered = [](std::int32_t v) { return v < 0 ? std::int64_t{INT32_MIN} - v : std::int64_t{v}; };
    largest = std::max(largest, std::abs(ordered(x) - ordered(y)));
  }
  return largest;
}

}  // namespace

void check_exactness(const Task& task, Json& out) {
  const blas::Exactness probe = blas::probe_exactness(open_checked(task.executor));
  out["probe_exactness"] = {{"exact", probe.exact}, {"reason", probe.reason}};
  if (!probe.exact) out["status"] = "findings";
  check_choices(task, out);
}

void check_bits(const Task& task, Json& out) {
  const Executor executor = open_checked(task.executor);
  const tile::Machine& machine = tile::device_of(executor).machine();
  const bool simulated = task.executor.starts_with("sim:");
  const Executor reference = simulated ? neuron::open_simulator(machine.name, {.order = neuron::Order::shuffled(7)})
                                       : neuron::open_simulator(machine.name);
  out["reference"] = simulated ? "the simulator in a shuffled order" : "the simulator";
  out["programs"] = Json::array();
  std::int64_t equal = 0, left = 0, false_reports = 0;
  const Recorder recorder(executor);
  int told = 0;
  for (const std::string& line : lines()) {
    if (task.deadline.over()) {
      ++left;
      continue;
    }
    Json row{{"program", line}};
    try {
      Bytes wanted, found;
      bool activations = false;
      const std::vector<tile::Program> programs = programs_of_line(line, machine);
      for (const tile::Program& program : programs) {
        const auto append = [](Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); };
        append(wanted, run(reference, program));
        append(found, run(executor, program));
        activations = activations || has_activation(program);
      }
      const bool same = wanted == found;
      equal += same;
      row["status"] = same ? "equal" : activations ? "differs, with activations" : "differs";
      if (programs.size() > 1) row["programs"] = programs.size();
      // Operands have no NaN: what the runtime says of one is false unless a result has it.
      const int reports = recorder.count(EventKind::NumericalError);
      if (reports > told && !has_nan(found)) ++false_reports;
      told = reports;
      row["digest"] = neuron::neff::sha256(std::as_bytes(std::span(found))).substr(0, 16);
      row["bytes"] = found.size();
      if (!same) row["largest_ulps"] = largest_ulps(wanted, found);
      if (row["status"] == "differs") out["status"] = "findings";
    } catch (const Error& e) {
      row["status"] = "not run";
      row["error"] = e.what();
    }
    out["programs"].push_back(row);
  }
  out["equal"] = equal;
  out["false_nan_reports"] = false_reports;
  out["left_out"] = left;
}

std::vector<NamedSection> all_sections() {
  std::vector<NamedSection> all = device_sections();
  for (NamedSection& s : all) {
    if (std::string(s.name) == "exactness") s.run = check_exactness;
  }
  all.insert(all.begin() + 3, {"bits", "device programs of all libraries against the simulator", check_bits});
  return all;
}

}  // namespace trn::tools::silicon
