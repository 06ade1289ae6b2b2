// Holds the validation table: the medians of fitted and predicted rows, which rows lie more than 25 % off and why, and
// every ratio as it stands, so that a change of the model shows up here. Ratios are modelled / measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <trn/neuron/sim.hpp>
#include <trn/neuron/validation.hpp>

#include "validation/published.hpp"

namespace trn::neuron {
namespace {

const std::vector<ValidationRow>& table() {
  static const std::vector<ValidationRow> rows = validate_timing();
  return rows;
}

std::string key(const ValidationRow& row) { return row.machine + ": " + row.name; }

TEST(Validation, FittedRowsAreWithin5PercentInTheMedian) {
  const Deviation d = deviation(table(), RowKind::Fitted);
  EXPECT_LE(d.median, 0.05);
  EXPECT_LE(d.largest, 0.25);
}

TEST(Validation, PredictedRowsAreWithin10PercentInTheMedian) {
  const Deviation d = deviation(table(), RowKind::Predicted);
  EXPECT_GE(d.rows, 36);
  EXPECT_LE(d.median, 0.10);
}

// More rows are predicted than fitted, and these are among them.
TEST(Validation, WhatIsPredicted) {
  std::map<std::string, int> predicted;
  for (const ValidationRow& row : table()) {
    if (row.kind != RowKind::Predicted) continue;
    for (const char* family : {"replayed", "GELU", "Mamba", "convolution", "rotary", "4096x8192x8192 bf16"}) {
      if (row.name.find(family) != std::string::npos) ++predicted[family];
    }
  }
  EXPECT_EQ(predicted["replayed"], 4);
  EXPECT_GE(predicted["GELU"], 6);
  EXPECT_GE(predicted["Mamba"], 10);
  EXPECT_GE(predicted["4096x8192x8192 bf16"], 3);
  EXPECT_EQ(predicted["convolution"], 2);
  EXPECT_EQ(predicted["rotary"], 1);
}

// The rows more than 25 % off; each says why in its note.
const std::set<std::string> kOutside{
    "trn2: 2048^3 bf16 naive, transposing in program order",
    "trn2: 2048^3 bf16 naive, transposing one tile ahead",
    "trn2: 512x1024x2048 bf16 + GELU, fused",
    "trn1: vector add of 25600, 100 x (128, 2)",
};

TEST(Validation, RowsOutsideAreKnownAndExplained) {
  for (const ValidationRow& row : table()) {
    const bool outside = std::abs(row.ratio() - 1) > 0.25;
    EXPECT_EQ(outside, kOutside.contains(key(row))) << key(row) << " has the ratio " << row.ratio();
    if (outside) {
      EXPECT_FALSE(row.note.empty()) << key(row);
    }
  }
}

TEST(Validation, RatiosAreThoseOnRecord) {
  const std::map<std::string, double> record{
      {"trn2: 2048 matmuls on resident operands", 1.0063},
      {"trn2: 4096x8192x8192 fp32 fully blocked", 1.0291},
      {"trn1: 8192^3 bf16 sustained, A 8 tiles wide", 1.0290},
      {"trn1: 8192^3 bf16, A 1 tile wide", 0.8897},
      {"trn1: 4096x8192x8192 bf16 hoisted", 0.9187},
      {"trn1: 4096^3 bf16, A 1 tile wide", 1.2338},
      {"trn1: vector add of 25600, 200 x (128, 1)", 0.9871},
      {"trn1: vector add of 25600, (128, 200)", 0.9805},
      {"trn2: 2048^3 bf16 naive, A transposed before", 0.8340},
      {"trn2: 4096^3 bf16 V0, loads in the inner loop", 0.8142},
      {"trn2: 4096x8192x8192 fp32 tiled", 1.0211},
      {"trn2: 4096^3 bf16 V1, blocked 8 x 2", 0.9138},
      {"trn2: 4096^3 bf16 V2, blocked with row loads", 1.0873},
      {"trn2: 2048^3 bf16 best hand kernel", 1.0554},
      {"trn2: 2048 matmuls of mixed sizes", 1.0151},
      {"trn2: 4096x8192x8192 fp32 hoisted (v3)", 1.0076},
      {"trn2: 4096x8192x8192 fp32 blocked (v4)", 0.9978},
      {"trn2: 2048^3 bf16 naive, transposing in program order", 1.3449},
      {"trn2: 2048^3 bf16 naive, transposing one tile ahead", 0.6436},
      {"trn2: 2048^3 bf16 loads in the inner loop", 0.9450},
      {"trn2: 2048^3 bf16 hoisted, one accumulator", 0.8999},
      {"trn2: 2048^3 bf16 hoisted, two accumulators", 1.0788},
      {"trn2: 2048^3 bf16 tutorial blocks 4/1/8", 1.0135},
      {"trn2: 2048^3 bf16 tutorial blocks 16/2/8", 0.8008},
      {"trn2: 16 loads and stores of 128 x 1 KiB", 1.0494},
      {"trn2: 16 loads and stores of 128 x 4 KiB", 1.0130},
      {"trn2: vector add of 256000, 2 x (128, 1000)", 0.9620},
      {"trn2: vector add of 256000, (128, 2000)", 1.0205},
      {"trn2: transpose of 1024^2 fp32", 0.9693},
      {"trn2: vector add of 25600, 200 x (128, 1)", 1.0190},
      {"trn2: vector add of 25600, 100 x (128, 2)", 1.1002},
      {"trn2: vector add of 25600, (128, 200)", 0.8827},
      {"trn2: convolution 3x3, 256 channels, 224^2, fp16", 1.0656},
      {"trn2: convolution 3x3, 256 channels, 224^2, fp32", 0.7931},
      {"trn2: attention 512 x 128 fused fp32, replayed", 0.9766},
      {"trn2: attention 512 x 128 fused bf16, replayed", 0.9378},
      {"trn2: attention 512 x 128 in three steps fp32, replayed", 0.9717},
      {"trn2: attention 512 x 128 in three steps bf16, replayed", 0.9648},
      {"trn2: 128x128x512 fp32 + GELU, fused", 0.9710},
      {"trn2: 128x128x512 bf16 + GELU, fused", 0.9347},
      {"trn2: 128x128x512 fp32 + GELU, two kernels", 0.9492},
      {"trn2: 128x128x512 bf16 + GELU, two kernels", 0.9241},
      {"trn2: 256x512x1024 fp32 + GELU, fused", 0.9180},
      {"trn2: 256x512x1024 bf16 + GELU, fused", 1.0064},
      {"trn2: 256x512x1024 fp32 + GELU, two kernels", 0.9100},
      {"trn2: 256x512x1024 bf16 + GELU, two kernels", 0.9148},
      {"trn2: 512x1024x2048 fp32 + GELU, fused", 0.9550},
      {"trn2: 512x1024x2048 bf16 + GELU, fused", 1.2757},
      {"trn2: 512x1024x2048 fp32 + GELU, two kernels", 0.9646},
      {"trn2: 512x1024x2048 bf16 + GELU, two kernels", 1.1928},
      {"trn1: 8192^3 bf16, A 4 tiles wide", 0.9124},
      {"trn1: 8192^3 bf16, A and B streamed", 0.8341},
      {"trn1: 4096^3 bf16, A 4 tiles wide", 0.9459},
      {"trn1: 4096^3 bf16, A and B streamed", 1.1638},
      {"trn1: 4096x8192x8192 bf16 tiled", 0.7619},
      {"trn1: 4096x8192x8192 bf16 blocked 2 x 2", 0.9049},
      {"trn1: 4096x8192x8192 bf16 fully blocked", 1.1044},
      {"trn1: vector add of 25600, 100 x (128, 2)", 2.2408},
      {"trn1: vector add of 256000, (128, 2000)", 0.9379},
      {"trn1: vector add of 256000, 2 x (128, 1000)", 0.9586},
      {"trn1: rotary embedding of (128, 262144) fp32", 0.7647},
      {"trn1: Mamba v1, 256 channels x 512", 0.9380},
      {"trn1: Mamba v1, 4096 channels x 512", 0.9724},
      {"trn1: Mamba v2, 4096 channels x 512", 1.0999},
      {"trn1: Mamba v2, 4096 channels x 1024", 0.9419},
      {"trn1: Mamba v2, 4096 channels x 2048", 0.8963},
      {"trn1: Mamba v2, 4096 channels x 3072", 0.9185},
      {"trn1: Mamba v2, 4096 channels x 4096", 0.9048},
      {"trn1: Mamba v2, 4096 channels x 5120", 0.8362},
      {"trn1: Mamba v3, 4096 channels x 512", 1.0999},
      {"trn1: Mamba v3, 4096 channels x 1024", 1.0914},
      {"trn1: Mamba v3, 4096 channels x 2048", 1.0794},
      {"trn1: Mamba v3, 4096 channels x 3072", 1.0915},
      {"trn1: Mamba v3, 4096 channels x 4096", 1.1054},
      {"trn1: Mamba v3, 4096 channels x 5120", 1.0623},
      {"trn1: Mamba v3, 4096 channels x 6144", 1.1253},
      {"trn1: Mamba v3, 4096 channels x 7168", 1.0633},
      {"trn1: Mamba v3, 4096 channels x 8192", 1.0579},
  };
  std::size_t found = 0;
  for (const ValidationRow& row : table()) {
    const auto expected = record.find(key(row));
    ASSERT_NE(expected, record.end()) << key(row) << " is not on record; its ratio is " << row.ratio();
    EXPECT_NEAR(row.ratio(), expected->second, 0.005 * expected->second) << key(row);
    ++found;
  }
  EXPECT_EQ(found, record.size()) << "a row on record is missing from the table, or listed twice";
}

// The programs move the bytes that the publications counted.
TEST(Validation, TrafficIsAsPublished) {
  const tile::Machine &trn1 = tile::machine("trn1"), &trn2 = tile::machine("trn2");
  const auto bytes = [](const tile::Program& program, const tile::Machine& machine) {
    const RunReport report = estimate(program, machine);
    return static_cast<double>(report.hbm_read_bytes + report.hbm_write_bytes);
  };
  using namespace validation;
  EXPECT_NEAR(bytes(naive_matmul(trn2, {DType::BFloat16, 4096, 4096, 4096}, {.a_serves = 3}), trn2), 1.2077e9, 0.001e9);
  EXPECT_NEAR(bytes(streamed_matmul(trn2, {DType::Float32, 4096, 8192, 8192}), trn2), 10.87e9, 0.01e9);
  EXPECT_NEAR(bytes(transpose_1024(trn2), trn2), 8.454e6, 0.001e6);
  EXPECT_EQ(bytes(vector_add(trn2, 2, 1000), trn2), 3.072e6);
  EXPECT_NEAR(bytes(wide_matmul(trn1, 4096, 4, Right::Resident), trn1), 270e6, 0.1 * 270e6);
  EXPECT_NEAR(bytes(wide_matmul(trn1, 4096, 1, Right::Resident), trn1), 248e6, 0.1 * 248e6);
}

TEST(Validation, EveryRowNamesItsSource) {
  for (const ValidationRow& row : table()) {
    EXPECT_FALSE(row.source.empty()) << key(row);
    EXPECT_GT(row.measured_us, 0) << key(row);
  }
}

// A reordered program keeps its work, so it is never much slower and often quicker.
TEST(Validation, ReorderingHelpsWhereProgramOrderHurts) {
  int reordered = 0;
  for (const ValidationRow& row : table()) {
    if (row.reordered_us == 0) continue;
    ++reordered;
    EXPECT_LT(row.reordered_us, 1.1 * row.modelled_us) << key(row);
  }
  EXPECT_GE(reordered, 20);
}

// Collectives: the goal is a median within a factor of 1.3 and no row beyond 2; outliers say why they do not count.
TEST(Validation, Collectives) {
  std::vector<double> off;
  int outliers = 0, fitted = 0;
  for (const ValidationRow& row : validate_collectives()) {
    if (row.kind == RowKind::Fitted) ++fitted;
    if (!row.goal) {
      EXPECT_FALSE(row.note.empty()) << row.name;
      ++outliers;
      continue;
    }
    off.push_back(std::max(row.ratio(), 1 / row.ratio()));
    EXPECT_LE(off.back(), 2) << row.name;
  }
  std::ranges::sort(off);
  EXPECT_EQ(fitted, 3);
  EXPECT_GE(off.size(), 28u);
  EXPECT_LE(outliers, 30);
  EXPECT_LE(off[off.size() / 2], 1.3);
}

}  // namespace
}  // namespace trn::neuron
