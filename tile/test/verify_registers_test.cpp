// What stays in the Scalar and the Vector Engine's registers between instructions: where a chain may begin, and what
// depends on it.
#include <trn/tile/depend.hpp>

#include "verify_cases.hpp"

namespace trn::tile::test {
namespace {

void chain(Builder& b, ReduceCmd cmd) {
  const Access t = b.sbuf("t", 32, {32}, F32, 1), r = b.sbuf("r", 32, {1}, F32, 1);
  b.activation(t, ActFunction::Exp, t, {.reduce_res = r, .reduce_cmd = cmd});
}

// The same on the Vector Engine.
void vector_chain(Builder& b, ReduceCmd cmd) {
  const Access t = b.sbuf("t", 32, {32}, F32, 1);
  b.tensor_scalar_reduce(t, t, AluOp::Add, 1.0, AluOp::Add, {.reduce_cmd = cmd});
}
void idle_select(Builder& b) {
  const Access t = b.sbuf("t", 32, {32}, F32, 1), m = b.sbuf("m", 32, {32}, U8, 1);
  b.select_reduce(t, m, t, 0.0);
}

const std::vector<Case> kRegisters{
    {"VectorNothingBegan", "loop-kind", "reduce_cmd: 'reduce' takes up sums that nothing began before it",
     [](Builder& b, bool bad) {
       if (!bad) vector_chain(b, ReduceCmd::LoadReduce);
       vector_chain(b, ReduceCmd::Reduce);
     }},
    {"EnginesHaveTheirOwnRegisters", "loop-kind", "reduce_cmd: 'reduce' takes up sums that nothing began before it",
     [](Builder& b, bool bad) {
       bad ? chain(b, ReduceCmd::ResetReduce) : vector_chain(b, ReduceCmd::ResetReduce);
       vector_chain(b, ReduceCmd::Reduce);
     }},
    {"AnIdleVectorInstructionLeavesNothing", "loop-kind", "'reduce' takes up sums that nothing began before it",
     [](Builder& b, bool bad) {
       vector_chain(b, ReduceCmd::ResetReduce);
       if (bad) idle_select(b);
       vector_chain(b, ReduceCmd::Reduce);
     }},
    {"NorDoesOneInAParallelLoop", "loop-kind", "'reduce' takes up sums that nothing began before it",
     [](Builder& b, bool bad) {
       vector_chain(b, ReduceCmd::ResetReduce);
       b.parallel("i", 4, [&](const Affine&) {
         if (bad) idle_select(b);
       });
       vector_chain(b, ReduceCmd::Reduce);
     }},
    {"VectorInstructionsShareTheirs", "loop-kind", "'reduce' takes up sums that nothing began before it",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 32, {32}, F32), m = b.sbuf("m", 32, {32}, U8), c = b.sbuf("c", 32, {1}, F32);
       if (!bad) b.tensor_scalar_cumulative(t, t, AluOp::Add, 1.0, AluOp::Add);
       b.select_reduce(t, m, t, 0.0, {.reduce_cmd = ReduceCmd::Reduce});
       b.range_select(t, t, AluOp::Less, c, AluOp::Less, c, {.reduce_res = c, .reduce_cmd = ReduceCmd::Reduce});
     }},
    {"NothingBegan", "loop-kind", "reduce_cmd: 'reduce' takes up sums that nothing began before it",
     [](Builder& b, bool bad) {
       if (!bad) chain(b, ReduceCmd::Reset);
       chain(b, ReduceCmd::Reduce);
     }},
    {"ReadingOutNeedsABeginning", "loop-kind", "reduce_cmd: 'idle' takes up sums that nothing began",
     [](Builder& b, bool bad) {
       if (!bad) chain(b, ReduceCmd::ResetReduce);
       chain(b, ReduceCmd::Idle);
     }},
    {"NotOverAParallelLoop", "loop-kind", "nothing began in this iteration of the parallel loop",
     [](Builder& b, bool bad) {
       chain(b, ReduceCmd::ResetReduce);
       const auto body = [&](const Affine&) { chain(b, ReduceCmd::Reduce); };
       bad ? b.parallel("i", 4, body) : b.sequential("i", 4, body);
     }},
    {"AParallelLoopMayHaveItsOwn", "loop-kind", "nothing began in this iteration of the parallel loop",
     [](Builder& b, bool bad) {
       b.parallel("i", 4, [&](const Affine&) {
         if (!bad) chain(b, ReduceCmd::ResetReduce);
         b.sequential("j", 2, [&](const Affine&) { chain(b, ReduceCmd::Reduce); });
       });
     }},
    {"NotAfterAParallelLoopThatUsedThem", "loop-kind", "nothing began before it",
     [](Builder& b, bool bad) {
       chain(b, ReduceCmd::ResetReduce);
       b.parallel("i", 4, [&](const Affine&) { chain(b, ReduceCmd::ResetReduce); });
       if (!bad) chain(b, ReduceCmd::Reset);
       chain(b, ReduceCmd::Reduce);
     }},
};

TRN_VERIFY_CASES(VerifyRegisters, kRegisters);

// An activation that adds to the registers comes after the one before it, reading them out after both; an idle one that
// reads nothing out is free.
TEST(VerifyRegisters, Dependences) {
  Builder b("chain", machine("trn2"));
  const Access w = b.sbuf("w", 32, {8}, F32), x = b.sbuf("x", 32, {8}, F32);
  const Access y = b.sbuf("y", 32, {8}, F32), z = b.sbuf("z", 32, {8}, F32), r = b.sbuf("r", 32, {1}, F32);
  b.activation(w, ActFunction::Copy, w, {.reduce_cmd = ReduceCmd::ResetReduce});
  b.activation(x, ActFunction::Copy, x, {.reduce_cmd = ReduceCmd::Reduce});
  b.activation(y, ActFunction::Copy, y, {.reduce_res = r, .reduce_cmd = ReduceCmd::Idle});
  b.activation(z, ActFunction::Copy, z);
  const std::vector<Dependency> expected{{0, 1, Hazard::WriteAfterWrite, false}, {1, 2, Hazard::ReadAfterWrite, false}};
  EXPECT_EQ(depend(b.finish_unverified(), machine("trn2")), expected);
}

// The Vector Engine's registers are a memory of their own, and an idle instruction overwrites them.
TEST(VerifyRegisters, VectorDependences) {
  Builder b("chain", machine("trn2"));
  const Access w = b.sbuf("w", 32, {8}, F32), x = b.sbuf("x", 32, {8}, F32), y = b.sbuf("y", 32, {8}, F32);
  const Access m = b.sbuf("m", 32, {8}, U8), other = b.sbuf("other", 128, {8}, F32);
  b.tensor_scalar_reduce(w, w, AluOp::Add, 1.0, AluOp::Add);
  b.activation(x, ActFunction::Copy, x, {.reduce_cmd = ReduceCmd::ResetReduce});  // the other engine's
  b.tensor_scalar_cumulative(other(ds(64, 32), all), other(ds(64, 32), all), AluOp::Add, 1.0,
                             AluOp::Add);  // other lanes
  b.select_reduce(y, m, y, 0.0);
  const std::vector<Dependency> expected{{0, 3, Hazard::WriteAfterWrite, false}};
  EXPECT_EQ(depend(b.finish_unverified(), machine("trn2")), expected);
}

}  // namespace
}  // namespace trn::tile::test
