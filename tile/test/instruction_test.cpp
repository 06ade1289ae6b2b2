// The instruction set as data: slots, opcode table and attributes agree, and docs/adding-an-instruction.md has a row
// for every opcode.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <trn/tile/instruction.hpp>

#include "test_paths.hpp"

namespace trn::tile {
namespace {

using Slots = std::vector<std::pair<std::size_t, std::string>>;

#define SLOT(I, slot) \
  { isa::I::slot, #slot }

// Every slot of every instruction, its enumerator spelt out.
std::map<Opcode, Slots> slots() {
  return {
      {Opcode::DmaCopy,
       {SLOT(DmaCopy, dst), SLOT(DmaCopy, src), SLOT(DmaCopy, index), SLOT(DmaCopy, dst_offset),
        SLOT(DmaCopy, src_offset)}},
      {Opcode::DmaTranspose, {SLOT(DmaTranspose, dst), SLOT(DmaTranspose, src)}},
      {Opcode::NcMatmul, {SLOT(NcMatmul, dst), SLOT(NcMatmul, stationary), SLOT(NcMatmul, moving)}},
      {Opcode::NcTranspose, {SLOT(NcTranspose, dst), SLOT(NcTranspose, data)}},
      {Opcode::NcMatmulMx,
       {SLOT(NcMatmulMx, dst), SLOT(NcMatmulMx, stationary), SLOT(NcMatmulMx, moving),
        SLOT(NcMatmulMx, stationary_scale), SLOT(NcMatmulMx, moving_scale)}},
      {Opcode::TensorTensor, {SLOT(TensorTensor, dst), SLOT(TensorTensor, data1), SLOT(TensorTensor, data2)}},
      {Opcode::TensorScalar,
       {SLOT(TensorScalar, dst), SLOT(TensorScalar, data), SLOT(TensorScalar, operand0), SLOT(TensorScalar, operand1)}},
      {Opcode::ScalarTensorTensor,
       {SLOT(ScalarTensorTensor, dst), SLOT(ScalarTensorTensor, data), SLOT(ScalarTensorTensor, operand0),
        SLOT(ScalarTensorTensor, operand1)}},
      {Opcode::TensorReduce, {SLOT(TensorReduce, dst), SLOT(TensorReduce, data)}},
      {Opcode::TensorTensorScan,
       {SLOT(TensorTensorScan, dst), SLOT(TensorTensorScan, data0), SLOT(TensorTensorScan, data1),
        SLOT(TensorTensorScan, initial)}},
      {Opcode::TensorCopy, {SLOT(TensorCopy, dst), SLOT(TensorCopy, src)}},
      {Opcode::TensorCopyPredicated,
       {SLOT(TensorCopyPredicated, dst), SLOT(TensorCopyPredicated, src), SLOT(TensorCopyPredicated, predicate)}},
      {Opcode::Activation,
       {SLOT(Activation, dst), SLOT(Activation, data), SLOT(Activation, bias), SLOT(Activation, scale),
        SLOT(Activation, reduce_res)}},
      {Opcode::Exponential,
       {SLOT(Exponential, dst), SLOT(Exponential, src), SLOT(Exponential, max_value), SLOT(Exponential, reduce_res),
        SLOT(Exponential, reduce_init)}},
      {Opcode::BnStats, {SLOT(BnStats, dst), SLOT(BnStats, data)}},
      {Opcode::BnAggr, {SLOT(BnAggr, dst), SLOT(BnAggr, data)}},
      {Opcode::QuantizeMx, {SLOT(QuantizeMx, dst), SLOT(QuantizeMx, src), SLOT(QuantizeMx, dst_scale)}},
      {Opcode::Reciprocal, {SLOT(Reciprocal, dst), SLOT(Reciprocal, data)}},
      {Opcode::Memset, {SLOT(Memset, dst)}},
      {Opcode::TensorScalarReduce,
       {SLOT(TensorScalarReduce, dst), SLOT(TensorScalarReduce, data), SLOT(TensorScalarReduce, operand0),
        SLOT(TensorScalarReduce, reduce_res), SLOT(TensorScalarReduce, reduce_init)}},
      {Opcode::TensorScalarCumulative,
       {SLOT(TensorScalarCumulative, dst), SLOT(TensorScalarCumulative, src), SLOT(TensorScalarCumulative, imm0),
        SLOT(TensorScalarCumulative, imm1)}},
      {Opcode::SelectReduce,
       {SLOT(SelectReduce, dst), SLOT(SelectReduce, predicate), SLOT(SelectReduce, on_true),
        SLOT(SelectReduce, on_false), SLOT(SelectReduce, reduce_res)}},
      {Opcode::RangeSelect,
       {SLOT(RangeSelect, dst), SLOT(RangeSelect, on_true_tile), SLOT(RangeSelect, bound0), SLOT(RangeSelect, bound1),
        SLOT(RangeSelect, reduce_res)}},
      {Opcode::Max8, {SLOT(Max8, dst), SLOT(Max8, src)}},
      {Opcode::NcFindIndex8, {SLOT(NcFindIndex8, dst), SLOT(NcFindIndex8, data), SLOT(NcFindIndex8, vals)}},
      {Opcode::NcMatchReplace8,
       {SLOT(NcMatchReplace8, dst), SLOT(NcMatchReplace8, data), SLOT(NcMatchReplace8, vals),
        SLOT(NcMatchReplace8, dst_idx)}},
      {Opcode::Iota, {SLOT(Iota, dst)}},
      {Opcode::AffineSelect, {SLOT(AffineSelect, dst), SLOT(AffineSelect, on_true_tile)}},
      {Opcode::LocalGather, {SLOT(LocalGather, dst), SLOT(LocalGather, src_buffer), SLOT(LocalGather, index)}},
      {Opcode::NonzeroWithCount, {SLOT(NonzeroWithCount, dst), SLOT(NonzeroWithCount, src)}},
      {Opcode::TensorPartitionReduce, {SLOT(TensorPartitionReduce, dst), SLOT(TensorPartitionReduce, data)}},
      {Opcode::DmaCompute,
       {SLOT(DmaCompute, dst), SLOT(DmaCompute, src0), SLOT(DmaCompute, src1), SLOT(DmaCompute, src2),
        SLOT(DmaCompute, src3), SLOT(DmaCompute, src4), SLOT(DmaCompute, src5), SLOT(DmaCompute, src6),
        SLOT(DmaCompute, src7), SLOT(DmaCompute, src8), SLOT(DmaCompute, src9), SLOT(DmaCompute, src10),
        SLOT(DmaCompute, src11), SLOT(DmaCompute, src12), SLOT(DmaCompute, src13), SLOT(DmaCompute, src14),
        SLOT(DmaCompute, src15), SLOT(DmaCompute, index)}},
      {Opcode::NcNGather, {SLOT(NcNGather, dst), SLOT(NcNGather, data), SLOT(NcNGather, indices)}},
      {Opcode::NcStreamShuffle, {SLOT(NcStreamShuffle, dst), SLOT(NcStreamShuffle, src)}},
      {Opcode::RegisterMove, {SLOT(RegisterMove, dst), SLOT(RegisterMove, src)}},
      {Opcode::RegisterLoad, {SLOT(RegisterLoad, dst), SLOT(RegisterLoad, src)}},
      {Opcode::RegisterStore, {SLOT(RegisterStore, dst), SLOT(RegisterStore, src)}},
  };
}
#undef SLOT

TEST(Instruction, SlotsAreTheRowsOfTheTable) {
  const auto named = slots();
  for (std::size_t o = 0; o < kOpcodes; ++o) {
    const auto opcode = static_cast<Opcode>(o);
    const OpcodeInfo& info = opcode_info(opcode);
    ASSERT_FALSE(info.name.empty()) << o;
    ASSERT_TRUE(named.contains(opcode)) << info.name << " has no row in this test";
    const Slots& expected = named.at(opcode);
    ASSERT_EQ(info.operands.size(), expected.size()) << info.name;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(expected[i].first, i) << info.name;
      EXPECT_EQ(info.operands[i].name, expected[i].second) << info.name;
    }
    EXPECT_NE(info.operands.front().role, Role::Read) << info.name << ": slot 0 is dst";
    EXPECT_FALSE(info.engines.empty()) << info.name;
  }
  EXPECT_EQ(name(static_cast<Opcode>(kOpcodes)), "") << "the table has more rows than there are instructions";
}

TEST(Instruction, TheDefaultOfAnOpcodeHasThatOpcode) {
  std::set<std::string_view> names;
  for (std::size_t o = 0; o < kOpcodes; ++o) {
    const Instruction i{Engine::Any, {}, default_attributes(static_cast<Opcode>(o))};
    EXPECT_EQ(i.opcode(), static_cast<Opcode>(o));
    EXPECT_TRUE(names.insert(name(i.opcode())).second) << name(i.opcode()) << " twice";
  }
}

TEST(Instruction, EqualityIsByBits) {
  const auto memset = [](double value) { return Instruction{Engine::Any, {}, isa::Memset{value}}; };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(memset(nan), memset(nan));
  EXPECT_NE(memset(0.0), memset(-0.0));
  EXPECT_NE((Instruction{Engine::Any, {}, isa::TensorCopy{}}), (Instruction{Engine::Any, {}, isa::Reciprocal{}}))
      << "no attributes, and yet two instructions";
}

// A number that stands in for an empty slot is the field <slot>_value of that slot.
TEST(Instruction, NumbersAreNamedAfterTheirSlots) {
  for (std::size_t o = 0; o < kOpcodes; ++o) {
    const auto opcode = static_cast<Opcode>(o);
    std::set<std::string> expected;
    for (const OperandInfo& operand : opcode_info(opcode).operands) {
      if (operand.optional && operand.role == Role::Read) expected.insert(std::string(operand.name) + "_value");
    }
    // No number replaces an index or a source.
    if (opcode == Opcode::DmaCopy || opcode == Opcode::DmaCompute) expected.clear();
    std::visit([&]<class I>(
                   const I& fresh) { I::visit(fresh, [&](const char* field, const auto&) { expected.erase(field); }); },
               default_attributes(opcode));
    EXPECT_EQ(expected, std::set<std::string>{}) << name(opcode);
  }
}

std::string text_of(const std::string& path) {
  std::ifstream in(std::string(TRN_SOURCE_DIR) + "/" + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(Instruction, TheDocumentHasARowForEveryOpcode) {
  const std::string text = text_of("docs/adding-an-instruction.md");
  for (std::size_t o = 0; o < kOpcodes; ++o) {
    const std::string row = "\n| `" + std::string(name(static_cast<Opcode>(o))) + "` |";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

TEST(Instruction, TheStandInHasEveryCall) {
  std::string text;
  for (const char* part : {"dma", "reduce", "tensor", "vector"})
    text += text_of("tests/nki_standin/nki/_isa_" + std::string(part) + ".py");
  for (std::size_t o = 0; o < kOpcodes; ++o) {
    const std::string call = "\ndef " + std::string(name(static_cast<Opcode>(o))) + "(dst, ";
    EXPECT_NE(text.find(call), std::string::npos) << call;
  }
}

// Every file that the document sends the reader to exists, and has the overload set it is said to have.
TEST(Instruction, TheDocumentNamesFilesThatExist) {
  std::istringstream lines(text_of("docs/adding-an-instruction.md"));
  int files = 0;
  for (std::string line; std::getline(lines, line);) {
    std::string code;  // of the file that the row named last
    std::istringstream cells(line);
    std::vector<std::string> quoted;
    for (std::string part; std::getline(cells, part, '`');) quoted.push_back(part);
    if (!line.starts_with("| `") || quoted[1].find('/') == std::string::npos) continue;
    for (std::size_t i = 1; i < quoted.size(); i += 2) {
      const std::string& word = quoted[i];
      if (word.find('/') != std::string::npos) {
        code = text_of(word);
        EXPECT_FALSE(code.empty()) << word;
        ++files;
      } else if (word.find('.') == std::string::npos && word.find('<') == std::string::npos) {
        EXPECT_NE(code.find(word), std::string::npos) << line << ": no '" << word << "' there";
      }
    }
  }
  EXPECT_GE(files, 15);
}

}  // namespace
}  // namespace trn::tile
