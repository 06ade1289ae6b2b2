// verify() as a whole: scopes and loop kinds, legal programs on every machine, and what verify_or_throw says.
#include <limits>
#include <string_view>

#include <trn/core/error.hpp>
#include <trn/tile/verify.hpp>

#include "programs.hpp"
#include "verify_cases.hpp"

namespace trn::tile::test {
namespace {

// A matmul of 32 x 32 tiles into `dst`.
void matmul_into(Builder& b, const Access& dst, Affine accumulate) {
  const Access s = b.sbuf("s", 32, {32}, BF16), m = b.sbuf("m", 32, {32}, BF16);
  b.nc_matmul(dst, s, m, {.accumulate = std::move(accumulate)});
}

const std::vector<Case> kScopes{
    {"TileAfterItsLoop", "tile-out-of-scope", "dst: tile 't' is used outside the loop body that allocates it",
     [](Builder& b, bool bad) {
       Access t;
       b.parallel("i", 2, [&](const Affine&) {
         t = b.sbuf("t", 32, {8}, F32);
         if (!bad) b.memset(t, 0);
       });
       if (bad) b.memset(t, 0);
     }},
    {"TileInASiblingLoop", "tile-out-of-scope", "src: tile 't'",
     [](Builder& b, bool bad) {
       Access t = b.sbuf("outer", 32, {8}, F32);
       b.parallel("i", 2, [&](const Affine&) {
         const Access inner = b.sbuf("t", 32, {8}, F32);
         if (bad) t = inner;
       });
       b.parallel("j", 2, [&](const Affine&) { b.tensor_copy(b.sbuf("u", 32, {8}, F32), t); });
     }},
    {"LoopVariableAfterItsLoop", "tile-out-of-scope", "dst: loop variable 'i' is used outside its loop",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 32, {8}, F32);
       Affine kept;
       b.parallel("i", 8, [&](const Affine& i) {
         kept = i;
         if (!bad) b.memset(t(all, ds(i, 1)), 0);
       });
       if (bad) b.memset(t(all, ds(kept, 1)), 0);
     }},
    {"LoopVariableOfAPartition", "tile-out-of-scope", "dst: loop variable 'i'",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 128, {8}, F32);
       Affine kept;
       b.parallel("i", 4, [&](const Affine& i) {
         kept = i;
         if (!bad) b.memset(t(ds(i * 32, 32), all), 0);
       });
       if (bad) b.memset(t(ds(kept * 32, 32), all), 0);
     }},
    {"LoopVariableInAccumulate", "tile-out-of-scope", "accumulate: loop variable 'k'",
     [](Builder& b, bool bad) {
       const Access acc = b.psum("acc", 32, {32});
       Affine kept;
       b.sequential("k", 4, [&](const Affine& k) {
         kept = k;
         if (!bad) matmul_into(b, acc, k);
       });
       if (bad) matmul_into(b, acc, kept);
     }},
    {"AccumulationOverAParallelLoop", "loop-kind", "sums into 'acc' over the iterations of parallel loop 'k'",
     [](Builder& b, bool bad) {
       const Access acc = b.psum("acc", 32, {32});
       const auto body = [&](const Affine& k) { matmul_into(b, acc, k); };
       if (bad) return b.parallel("k", 4, body);
       b.sequential("k", 4, body);
     }},
    {"AddingToOneTileFromParallelIterations", "loop-kind", "sums into 'acc' over the iterations of parallel loop 'i'",
     [](Builder& b, bool bad) {
       const Access acc = b.psum("acc", 32, {2, 32});
       const Access s = b.sbuf("s", 32, {32}, DType::BFloat16);
       b.nc_matmul(acc(all, ds(0, 1), all), s, s);
       b.nc_matmul(acc(all, ds(1, 1), all), s, s);
       // Each iteration its own half, or all of them the same one.
       b.parallel("i", 2, [&](const Affine& i) {
         b.nc_matmul(acc(all, ds(bad ? Affine(0) : i, 1), all), s, s, {.accumulate = 1});
       });
     }},
    {"AccumulationOverANestedParallelLoop", "loop-kind", "parallel loop 'k'",
     [](Builder& b, bool bad) {
       b.parallel("m", 2, [&](const Affine&) {
         const Access acc = b.psum("acc", 32, {32});
         const auto body = [&](const Affine& k) {
           b.sequential("j", 2, [&](const Affine& j) { matmul_into(b, acc, k * 2 + j); });
         };
         if (bad) return b.parallel("k", 4, body);
         b.sequential("k", 4, body);
       });
     }},
};
TRN_VERIFY_CASES(VerifyScope, kScopes);

// The accumulator is new in every iteration of m, so m's order does not matter to the sum.
TEST(VerifyLoopKind, AParallelLoopAroundTheAllocIsLegal) {
  Builder b("outer", machine("trn2"));
  b.parallel("m", 2, [&](const Affine& m) {
    const Access acc = b.psum("acc", 32, {32});
    matmul_into(b, acc, 0);
    matmul_into(b, acc, m + 1);
  });
  EXPECT_EQ(all_messages(verify(b.finish_unverified(), machine("trn2"))), "");
}

TEST(VerifyScope, ATileBeforeItsAlloc) {
  Builder b("early", machine("trn2"));
  b.memset(b.sbuf("t", 32, {8}, F32), 0);
  Program::Parts parts = b.finish_unverified().parts();
  std::swap(parts.statements[0], parts.statements[1]);
  const auto diagnostics = verify(Program(parts), machine("trn2"));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics.front().rule, "tile-out-of-scope");
  EXPECT_EQ(diagnostics.front().instruction, 0);
}

TEST(Verify, LegalProgramsPassOnTheirMachine) {
  for (const Machine& m : machines()) {
    EXPECT_EQ(all_messages(verify(scale_program(m), m)), "") << m.name;
    EXPECT_EQ(all_messages(verify(every_opcode(m), m)), "") << m.name;
  }
}

TEST(Verify, EveryOpcodeAppearsInTheSharedProgram) {
  for (const Machine& m : machines()) {
    const Program program = every_opcode(m);
    std::vector<bool> seen;
    for (int i = 0; !name(static_cast<Opcode>(i)).empty(); ++i) seen.push_back(false);
    for (const Instruction& i : program.instructions()) seen[static_cast<std::size_t>(i.opcode())] = true;
    std::vector<bool> expected(seen.size(), true);
    for (const Opcode opcode : missing_opcodes(m)) expected[static_cast<std::size_t>(opcode)] = false;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      EXPECT_EQ(seen[i], expected[i]) << m.name << " " << name(static_cast<Opcode>(i));
    }
  }
}

TEST(Verify, ANewerProgramIsRefusedByAnOlderMachine) {
  const auto diagnostics = verify(every_opcode(machine("trn2")), machine("trn1"));
  EXPECT_FALSE(diagnostics.empty());
}

TEST(Verify, ThrowsTheFirstDiagnosticWithItsRuleAndTheCountOfTheOthers) {
  Builder b("two", machine("trn2"));
  const Access t = b.sbuf("t", 128, {8}, F32), u = b.psum("u", 128, {8});
  b.memset(t(ds(16, 16), all), 0, Engine::Vector);
  b.memset(u, 0, Engine::GpSimd);
  try {
    (void)b.finish();
    FAIL() << "finish() accepted an illegal program";
  } catch (const DeviceError& e) {
    EXPECT_EQ(e.check(), "partition-rule");
    EXPECT_STREQ(
        e.what(),
        "partition-rule: program 'two': vector memset dst=t[16:32, 0:8]: dst: 16 partitions start at partition 16; "
        "that many must start at a multiple of 32: move the data or split it (and 1 more)");
  }
}

// Its bytes, or those of all its buffers, do not fit 64 bits: told before anything is computed from them.
TEST(Verify, ATileWhoseBytesOverflow) {
  for (const bool wide : {true, false}) {
    Builder b("huge", machine("trn2"));
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    b.memset(wide ? b.sbuf("t", 128, {kMost}, BF16) : b.sbuf("t", 128, {8}, F32, kMost), 0, Engine::Vector);
    try {
      (void)b.finish();
      FAIL() << "finish() accepted an illegal program";
    } catch (const DeviceError& e) {
      EXPECT_EQ(e.check(), "size-limit");
      EXPECT_NE(std::string_view(e.what()).find("no machine holds a tile of that size"), std::string_view::npos)
          << e.what();
    }
  }
}

}  // namespace
}  // namespace trn::tile::test
