// The parser of instruction streams, and the committed ones.
#include "replay.hpp"

#include <map>
#include <sstream>
#include <trn/core/error.hpp>
#include <trn/tile/builder.hpp>

namespace trn::neuron::validation {

using namespace trn::tile;

namespace {

constexpr std::int64_t kPartitions = 128;

DType dtype_of(const std::string& word) {
  for (const DType d : {DType::Float32, DType::BFloat16}) {
    if (word == trn::name(d)) return d;
  }
  fail<InvalidArgument>("unknown dtype '{}'", word);
}

class Replay {
 public:
  Replay(const Machine& machine, const std::string& name) : b_(name, machine) {
    psum_ = b_.psum("psum", kPartitions, {machine.psum_bytes_per_partition() / size_bytes(DType::Float32)});
  }

  void line(const std::string& text) {
    words_ = std::istringstream(text);
    const std::string op = word();
    if (op == "sbuf")
      sbuf_ = b_.sbuf("sbuf", kPartitions, {number() / size_bytes(DType::Float32)}, DType::Float32);
    else if (op == "load" || op == "store")
      dma(op == "load");
    else if (op == "transpose")
      transpose();
    else if (op == "matmul")
      matmul();
    else
      compute(op);
    std::string rest;
    require(!(words_ >> rest), "unexpected '{}'", rest);
  }

  Program finish() { return b_.finish(); }

 private:
  std::string word() {
    std::string w;
    require(static_cast<bool>(words_ >> w), "the line ends too early");
    return w;
  }
  std::int64_t number() {
    const std::string w = word();
    require(!w.empty() && w.find_first_not_of("0123456789") == std::string::npos, "'{}' is not a count", w);
    return std::stoll(w);
  }

  Access at(const Access& memory, std::int64_t address, std::int64_t count, DType dtype) const {
    return memory.view(dtype)(all, ds(address / size_bytes(dtype), count));
  }
  Access sbuf(std::int64_t address, std::int64_t count, DType dtype) const {
    require(sbuf_.present(), "the stream must begin with its SBUF size");
    return at(sbuf_, address, count, dtype);
  }
  Access operand() {
    const std::string space = word();
    require(space == "sbuf" || space == "psum", "'{}' is not a memory", space);
    const std::int64_t address = number(), count = number();
    const DType dtype = dtype_of(word());
    return space == "sbuf" ? sbuf(address, count, dtype) : at(psum_, address, count, dtype);
  }

  // In HBM a tile is `runs` blocks of (partitions, bytes / runs). What is both stored and loaded is the program's own.
  void dma(bool load) {
    const std::string source = word();
    require(source == "hardware" || source == "software", "'{}' makes no descriptors", source);
    const DmaOptions options{.dge = source == "hardware" ? DgeMode::Hardware : DgeMode::Software};
    const std::string tensor = word();
    const std::int64_t address = number(), bytes = number(), runs = number();
    const std::int64_t run = bytes / runs / size_bytes(DType::Float32);
    Access& hbm = tensors_[tensor];
    if (!hbm.present()) hbm = b_.scratch(tensor, DType::Float32, {runs, kPartitions, run});
    const Access tile = sbuf(address, runs * run, DType::Float32).split(0, run), there = hbm.permute({1, 0, 2});
    if (load)
      b_.dma_copy(tile, there, options);
    else
      b_.dma_copy(there, tile, options);
  }

  void transpose() {
    const DType dtype = dtype_of(word());
    const std::int64_t to = number(), data = number(), identity = number(), count = number();
    b_.nc_matmul(at(psum_, to, count, dtype), sbuf(data, count, dtype), sbuf(identity, count, dtype),
                 {.is_transpose = true});
  }

  void matmul() {
    const DType dtype = dtype_of(word());
    const std::int64_t to = number(), stationary = number(), m = number(), moving = number(), n = number();
    b_.nc_matmul(at(psum_, to, n, DType::Float32), sbuf(stationary, m, dtype), sbuf(moving, n, dtype),
                 {.accumulate = number()});
  }

  void compute(const std::string& op) {
    const std::string engine = word();
    const Access src = operand(), dst = operand();
    const auto value = [&] { return sbuf(number(), 1, DType::Float32); };
    if (op == "copy") {
      b_.tensor_copy(dst, src, engine == "scalar" ? Engine::Scalar : Engine::Vector);
    } else if (op == "reduce") {
      b_.tensor_reduce(dst, AluOp::Maximum, src.split(0, src.free_size() / dst.free_size()));
    } else if (op == "exp") {
      b_.activation(dst, ActFunction::Exp, src, {.bias = value()});
    } else if (op == "scale") {
      b_.tensor_scalar(dst, src, AluOp::Multiply, value(), {.engine = Engine::Vector});
    } else if (op == "reciprocal") {
      b_.reciprocal(dst, src);
    } else {
      fail<InvalidArgument>("'{}' is not an instruction", op);
    }
  }

  Builder b_;
  Access sbuf_, psum_;
  std::map<std::string, Access> tensors_;
  std::istringstream words_;
};

}  // namespace

Program replay(const Machine& machine, const std::string& name, std::string_view stream) {
  Replay replay(machine, name);
  std::istringstream lines{std::string(stream)};
  std::string text;
  for (int number = 1; std::getline(lines, text); ++number) {
    if (text.empty()) continue;
    try {
      replay.line(text);
    } catch (const InvalidArgument& e) {
      fail<InvalidArgument>("replay: line {} '{}': {}", number, text, e.what());
    }
  }
  return replay.finish();
}

std::string_view attention_stream(Attention kind, DType dtype) {
  static constexpr std::string_view kFusedFp32 =
#include "streams/attention_fused_fp32_s512.inc"
      ;
  static constexpr std::string_view kFusedBf16 =
#include "streams/attention_fused_bf16_s512.inc"
      ;
  static constexpr std::string_view kBaselineFp32 =
#include "streams/attention_baseline_fp32_s512.inc"
      ;
  static constexpr std::string_view kBaselineBf16 =
#include "streams/attention_baseline_bf16_s512.inc"
      ;
  if (dtype == DType::Float32) return kind == Attention::Fused ? kFusedFp32 : kBaselineFp32;
  return kind == Attention::Fused ? kFusedBf16 : kBaselineBf16;
}

}  // namespace trn::neuron::validation
