// Choosing engines, descriptor sources and rings. One pass over the statements; loop nests weigh an instruction by how
// often it runs.
#include <trn/tile/schedule.hpp>

#include <algorithm>
#include <array>

#include <trn/tile/cost.hpp>

namespace trn::tile {

namespace {

bool in_psum(const Program::Parts& parts, const Access& access) {
  return access.is_tile() && parts.tiles[static_cast<std::size_t>(access.id)].space == Space::Psum;
}

bool is_int32(DType dtype) { return dtype == DType::Int32 || dtype == DType::UInt32; }

// Engines that give the same bits for an instruction, so that the choice is only about time: one overload for each.
struct Scope {
  const Program::Parts& parts;
  const Instruction& i;
  const Machine& machine;
  [[nodiscard]] bool psum() const {
    return std::ranges::any_of(i.operands, [&](const Access& a) { return a.present() && in_psum(parts, a); });
  }
};

std::vector<Engine> candidates(const Scope& s, const isa::TensorCopy&) {
  if (s.machine.scalar_tensor_copy) return {Engine::Vector, Engine::Scalar};
  return {Engine::Vector};
}
std::vector<Engine> candidates(const Scope& s, const isa::Memset&) {
  if (!s.psum()) return {Engine::Vector, Engine::GpSimd};
  return {Engine::Vector};
}
std::vector<Engine> candidates(const Scope& s, const isa::TensorTensor& a) {
  // nki.isa: 32-bit integer arithmetic is exact on GpSimd only, and power exists there only.
  const bool exact_integers = std::ranges::all_of(s.i.operands, [](const Access& o) { return is_int32(o.dtype); }) &&
                              !is_bitvec(a.op) && !s.psum();
  if (exact_integers || a.op == AluOp::Power) return {Engine::GpSimd};
  return {Engine::Vector};
}
std::vector<Engine> candidates(const Scope& s, const isa::NcTranspose&) {
  // The Tensor Engine reads SBUF and writes PSUM; every other pair of memories is the Vector Engine's.
  const Access &dst = s.i.operands[isa::NcTranspose::dst], &data = s.i.operands[isa::NcTranspose::data];
  return {in_psum(s.parts, dst) && !in_psum(s.parts, data) ? Engine::Tensor : Engine::Vector};
}
template <isa::OneOf<isa::NcMatmulMx, isa::Exponential, isa::BnStats, isa::BnAggr, isa::QuantizeMx, isa::DmaCopy,
                     isa::DmaTranspose, isa::NcMatmul, isa::TensorScalar, isa::ScalarTensorTensor, isa::TensorReduce,
                     isa::TensorTensorScan, isa::TensorCopyPredicated, isa::Activation, isa::Reciprocal,
                     isa::TensorScalarReduce, isa::TensorScalarCumulative, isa::SelectReduce, isa::RangeSelect,
                     isa::Max8, isa::NcFindIndex8, isa::NcMatchReplace8, isa::Iota, isa::AffineSelect, isa::LocalGather,
                     isa::NonzeroWithCount, isa::TensorPartitionReduce>
              I>
std::vector<Engine> candidates(const Scope&, const I&) {
  return {opcode_info(I::opcode).engines.front()};
}

template <isa::OneOf<isa::DmaCompute, isa::NcNGather, isa::NcStreamShuffle, isa::RegisterMove, isa::RegisterLoad,
                     isa::RegisterStore>
              I>
std::vector<Engine> candidates(const Scope&, const I&) {
  return {opcode_info(I::opcode).engines.front()};
}

class Scheduler {
 public:
  Scheduler(const Program& program, const Machine& machine)
      : program_(program), machine_(machine), parts_(program.parts()) {}

  Program run() {
    block(0, static_cast<std::int32_t>(parts_.statements.size()), 1);
    return Program(std::move(parts_));
  }

 private:
  void block(std::int32_t begin, std::int32_t end, double times) {
    for (std::int32_t s = begin; s < end;) {
      const Statement statement = parts_.statements[static_cast<std::size_t>(s)];
      if (statement.kind == StatementKind::Loop) {
        block(s + 1, statement.end,
              times * static_cast<double>(parts_.loops[static_cast<std::size_t>(statement.index)].trip));
        s = statement.end;
        continue;
      }
      if (statement.kind == StatementKind::Instruction)
        settle(parts_.instructions[static_cast<std::size_t>(statement.index)], times);
      ++s;
    }
  }

  void settle(Instruction& i, double times) {
    if (i.engine == Engine::Dma) return settle_dma(i);
    const auto load = [&](Engine e) {
      return busy_[static_cast<std::size_t>(e)] + times * compute_seconds(program_, i, e, machine_);
    };
    if (i.engine == Engine::Any) {
      const Scope scope{parts_, i, machine_};
      const auto engines = i.visit([&](const auto& attributes) { return candidates(scope, attributes); });
      i.engine = *std::ranges::min_element(engines, {}, load);
    }
    busy_[static_cast<std::size_t>(i.engine)] = load(i.engine);
  }

  // Hardware rings: 0 for what ends in SBUF, 1 for what ends in HBM. Static descriptors: a ring per HBM tensor and
  // direction, from 2 on. Software descriptors run in GpSimd's own queue, ring -1.
  void settle_dma(Instruction& i) const {
    isa::DmaRoute& a = *dma_route(i);
    const Access &dst = i.operands[isa::DmaRoute::dst], &src = i.operands[isa::DmaRoute::src];
    if (a.dge == DgeMode::Default) {
      if (is_indirect(i))
        a.dge = DgeMode::Software;
      else if (i.as<isa::DmaCompute>())
        a.dge = DgeMode::Static;  // nki.isa: the only mode without an index
      else if (!machine_.hardware_dge && follows_register(program_, i))
        a.dge = DgeMode::Software;
      else if (!machine_.hardware_dge)
        a.dge = DgeMode::Static;
      else
        a.dge = dst.dtype == src.dtype ? DgeMode::Hardware : DgeMode::Software;  // RN 0.3: hwdge needs equal dtypes
    }
    if (a.ring >= 0 || a.dge == DgeMode::Software) return;
    const bool store = !dst.is_tile();
    if (a.dge == DgeMode::Hardware) {
      a.ring = store ? 1 : 0;
    } else {
      const std::int32_t tensor = store           ? dst.id
                                  : src.is_tile() ? static_cast<std::int32_t>(parts_.tensors.size())
                                                  : src.id;
      a.ring = 2 + 2 * tensor + (store ? 1 : 0);
    }
  }

  const Program& program_;
  const Machine& machine_;
  Program::Parts parts_;
  std::array<double, 7> busy_{};
};

}  // namespace

Program schedule(const Program& program, const Machine& machine) { return Scheduler(program, machine).run(); }

}  // namespace trn::tile
