// The sections of silicon-check that need the libraries. Exactness: do small integers come out exact, and the choices.
// Bits: device programs of all libraries at small shapes, the same operands on the executor and on a reference, the
// simulator of the same machine; for a simulator itself, the simulator in a shuffled order. Operations: the same for
// the programs that calls of every operation run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include <trn/blas/exactness.hpp>
#include <trn/core/array.hpp>
#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <trn/core/event.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/launch.hpp>

#include "neff/sha256.hpp"
#include "operation_line.hpp"
#include "recording_device.hpp"
#include "silicon_calls.hpp"
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
  add("blas.rotm", {"--n 1000"});
  add("blas.gemv", {"--m 30 --n 40", "--m 200 --n 130", "--m 130 --n 200 --op T"});
  add("blas.ger", {"--m 30 --n 40", "--m 200 --n 130"});
  for (const char* op : {"blas.symm", "blas.syrk", "blas.syr2k", "blas.syrkx", "blas.trmm"}) {
    add(op, {"--m 70 --n 50 --k 30", "--m 30 --n 40 --k 50 --dtype complex64"});
  }
  for (const char* op : {"blas.hemm", "blas.herk", "blas.her2k", "blas.herkx", "blas.gemm3m", "blas.dotc", "blas.gerc",
                         "blas.scal_real"}) {
    add(op, {"--m 30 --n 40 --k 50 --dtype complex64"});
  }
  add("blas.round", {"--n 3001", "--dtype fp16 --n 3001"});
  for (const char* op : {"rand.raw32", "rand.uniform", "rand.bernoulli", "rand.normal", "rand.log_normal",
                         "rand.exponential", "rand.laplace", "rand.weibull", "rand.cauchy"}) {
    add(op, {"--n 64", "--n 1000", "--n 5000 --generator threefry"});
  }
  add("fft.c2c", {"--n 8", "--n 16 --batch 5", "--n 100", "--n 256 --batch 3", "--n 1000", "--n 256 --precision bf16x6",
                  "--n 12 10 --step 1", "--n 12 10 --step 2"});
  add("fft.dct", {"--n 20 --batch 3", "--n 300 --batch 3 --type 4"});
  add("fft.convolve", {"--n 300 --m 20 --batch 2 --method direct", "--n 300 --m 20 --batch 2 --method fft",
                       "--n 300 --m 20 --batch 2 --method blocks"});
  add("fft.stft", {"--n 1000 --batch 2 --n-fft 64 --hop 16"});
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
  add("sparse.spmv",
      {"--generate poisson2d:8", "--generate poisson2d:8 --kernel dia", "--generate poisson2d:8 --kernel stencil"});
  add("sparse.spgemm", {"--generate poisson2d:12 --dtype fp32"});
  add("sparse.spsv", {"--generate poisson2d:12 --columns 5 --dtype fp32"});
  add("sparse.tridiagonal.solve", {"--n 40 --count 5", "--n 40 --count 5 --order unknowns"});
  add("sparse.spmm", {"--generate poisson2d:8 --columns 16"});
  add("sparse.sddmm", {"--generate poisson2d:8 --columns 16"});
  for (const char* op : {"sparse.attention", "sparse.attention.backward"}) {
    add(op, {"--queries 64 --heads 2 --kv-heads 1 --d 32 --mask full"});
  }
  add("tensor.einsum", {""});
  add("tensor.permute", {""});
  add("tensor.reduce", {""});
  return all;
}

// Random numbers for every tensor.
ProgramOperands random_operands(const tile::Program& program) {
  ProgramOperands all(program.tensors().size());
  for (std::size_t number = 0; number < all.size(); ++number) {
    const tile::TensorDecl& t = program.tensors()[number];
    if (t.kind == tile::TensorKind::Scratch) continue;
    all[number].resize(operand_bytes(t));
    std::mt19937_64 random(number + 1);
    std::normal_distribution<double> normal;
    std::vector<double> values(all[number].size() / static_cast<std::size_t>(size_bytes(t.dtype)));
    // Integers are counts and indices: small ones are legal almost everywhere.
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = is_float(t.dtype) ? normal(random) : static_cast<double>(i % 8);
    from_double(values.data(), t.dtype, all[number].data(), static_cast<std::int64_t>(values.size()));
  }
  return all;
}

// The bytes of all outputs, one after the other.
Bytes run(const Executor& executor, const tile::Program& program, const ProgramOperands& operands) {
  const auto& tensors = program.tensors();
  const auto place = [&](const std::string& name) {
    return static_cast<std::size_t>(
        std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; }) - tensors.begin());
  };
  std::vector<Buffer> memory;
  memory.reserve(tensors.size());
  std::vector<tile::Argument> arguments;
  std::vector<std::pair<std::size_t, const tile::TensorDecl*>> outputs;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const tile::TensorDecl& t = tensors[i];
    if (t.kind == tile::TensorKind::Scratch) continue;
    if (t.kind == tile::TensorKind::Input) {  // an output that continues it takes its memory
      bool continued = false;
      for (const tile::TensorDecl& o : tensors) continued = continued || o.alias == t.name;
      if (continued) continue;
    }
    memory.emplace_back(executor, static_cast<std::int64_t>(operand_bytes(t)));
    if (t.kind == tile::TensorKind::Input || !t.alias.empty()) {
      const auto& content = operands[t.alias.empty() ? i : place(t.alias)];
      copy_bytes(Executor::host(), content.data(), executor, memory.back().data(), memory.back().bytes());
    }
    if (t.kind == tile::TensorKind::Output) outputs.emplace_back(memory.size() - 1, &t);
    arguments.emplace_back(t.name, memory.back().data(),
                           -offset_range(t.shape, t.strides).lowest * size_bytes(t.dtype));
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

// Programs on the executor and on the reference, a row for each line or call.
class Rows {
 public:
  Rows(const Task& task, Json& out)
      : task_(task),
        out_(out),
        executor_(open_checked(task.executor)),
        machine_(tile::device_of(executor_).machine()),
        reference_(simulated(task) ? neuron::open_simulator(machine_.name, {.order = neuron::Order::shuffled(7)})
                                   : neuron::open_simulator(machine_.name)),
        recorder_(executor_) {
    out_["reference"] = simulated(task) ? "the simulator in a shuffled order" : "the simulator";
    out_["programs"] = Json::array();
  }
  [[nodiscard]] const tile::Machine& machine() const { return machine_; }

  // `programs` runs its programs by run(). What this machine does not have becomes a row that was not run, or none.
  template <class F> void row(const std::string& name, bool told_if_missing, const F& programs) {
    if (task_.deadline.over()) {
      ++left_;
      return;
    }
    wanted_.clear(), found_.clear();
    activations_ = false;
    programs_ = 0;
    Json row{{"program", name}};
    try {
      programs();
      if (programs_ == 0 && !told_if_missing) return;  // nothing that was not run before
      const bool same = wanted_ == found_;
      equal_ += same;
      row["status"] = same ? "equal" : activations_ ? "differs, with activations" : "differs";
      if (programs_ != 1) row["programs"] = programs_;
      // Operands have no NaN: what the runtime says of one is false unless a result has it.
      const int reports = recorder_.count(EventKind::NumericalError);
      if (reports > reported_ && !has_nan(found_)) ++false_reports_;
      reported_ = reports;
      row["digest"] = neuron::neff::sha256(std::as_bytes(std::span(found_))).substr(0, 16);
      row["bytes"] = found_.size();
      if (!same) row["largest_ulps"] = largest_ulps(wanted_, found_);
      if (row["status"] == "differs") out_["status"] = "findings";
    } catch (const NotImplemented& e) {
      if (!told_if_missing) return;
      row["status"] = "not run";
      row["error"] = e.what();
    } catch (const Error& e) {
      row["status"] = "not run";
      row["error"] = e.what();
      if (!told_if_missing) out_["status"] = "findings";
    }
    out_["programs"].push_back(row);
  }
  void run(const tile::Program& program, const ProgramOperands& operands) {
    const auto append = [](Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); };
    append(wanted_, silicon::run(reference_, program, operands));
    append(found_, silicon::run(executor_, program, operands));
    activations_ = activations_ || has_activation(program);
    kernels_.insert(program.name());
    ++programs_;
  }
  void end() {
    out_["kernels_run"] = kernels_;
    out_["equal"] = equal_;
    out_["false_nan_reports"] = false_reports_;
    out_["left_out"] = left_;
  }

 private:
  static bool simulated(const Task& task) { return task.executor.starts_with("sim:"); }

  const Task& task_;
  Json& out_;
  Executor executor_;
  const tile::Machine& machine_;
  Executor reference_;
  Recorder recorder_;
  std::int64_t equal_ = 0, left_ = 0, false_reports_ = 0;
  int reported_ = 0, programs_ = 0;
  Bytes wanted_, found_;
  bool activations_ = false;
  std::set<std::string> kernels_;  // names of programs
};

}  // namespace

void check_exactness(const Task& task, Json& out) {
  const blas::Exactness probe = blas::probe_exactness(open_checked(task.executor));
  out["probe_exactness"] = {{"exact", probe.exact}, {"reason", probe.reason}};
  if (!probe.exact) out["status"] = "findings";
  check_choices(task, out);
}

void check_bits(const Task& task, Json& out) {
  Rows rows(task, out);
  for (const std::string& line : lines()) {
    rows.row(line, true, [&] {
      for (const tile::Program& program : programs_of_line(line, rows.machine()))
        rows.run(program, random_operands(program));
    });
  }
  rows.end();
}

// The operands of each program are those that it has within the call on a simulator. A program that another call has
// run already is not run again.
void check_operations(const Task& task, Json& out) {
  Rows rows(task, out);
  std::set<std::string> operations;
  std::map<std::uint64_t, std::vector<std::shared_ptr<const tile::Program>>> seen;
  for (const Call& call : calls()) {
    rows.row(call.name, false, [&] {
      const KeptCall kept = kept_call(rows.machine(), call.run);
      for (const KeptRun& r : kept.runs) {
        auto& same_hash = seen[r.program->hash()];
        const bool again =
            std::any_of(same_hash.begin(), same_hash.end(), [&](const auto& p) { return *p == *r.program; });
        if (again) continue;
        same_hash.push_back(r.program);
        rows.run(*r.program, r.operands);
      }
      operations.insert(kept.operations.begin(), kept.operations.end());
    });
  }
  out["operations"] = operations;
  rows.end();
}

std::vector<NamedSection> all_sections() {
  std::vector<NamedSection> all = device_sections();
  for (NamedSection& s : all) {
    if (std::string(s.name) == "exactness") s.run = check_exactness;
  }
  const auto before = [&](const char* name) {
    return std::find_if(all.begin(), all.end(), [&](const auto& s) { return std::string_view(s.name) == name; });
  };
  all.insert(before("time"), {"bits", "device programs of all libraries against the simulator", check_bits, 0.5});
  all.insert(before("runtime"),
             {"operations", "programs of every operation, as calls run them", check_operations, 0.7});
  return all;
}

}  // namespace trn::tools::silicon
