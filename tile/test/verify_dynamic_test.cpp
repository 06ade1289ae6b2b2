// Registers, loops of the device, dynamic starts, adding DMA, gathers and shuffles: every rule with a program that
// breaks it and one that keeps it.
#include <trn/core/error.hpp>
#include <trn/tile/depend.hpp>
#include <trn/tile/print.hpp>
#include <trn/tile/serialize.hpp>

#include "verify_cases.hpp"

namespace trn::tile::test {
namespace {

// A register that holds one loaded number.
Access loaded(Builder& b, const std::string& name = "n") {
  const Access t = b.sbuf(name + "_tile", 1, {1}, I32), r = b.register_alloc(name);
  b.memset(t, 2);
  b.register_load(r, t);
  return r;
}

const std::vector<Case> kRegisterRules{
    {"LoadsOneElement", "size-limit", "src: 2 elements; a register holds one",
     [](Builder& b, bool bad) { b.register_load(b.register_alloc("r"), b.sbuf("t", 1, {bad ? 2 : 1}, I32)); }},
    {"LoadsWords", "illegal-dtype", "float32; registers and what they exchange are uint32 or int32",
     [](Builder& b, bool bad) { b.register_load(b.register_alloc("r"), b.sbuf("t", 1, {1}, bad ? F32 : U32)); }},
    {"LoadsIntoARegister", "illegal-space", "dst: is not a register",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 1, {1}, I32), u = b.sbuf("u", 1, {1}, I32);
       b.register_load(bad ? u : b.register_alloc("r"), t);
     }},
    {"NotFromPsum", "illegal-space", "registers exchange values with SBUF and HBM only",
     [](Builder& b, bool bad) {
       b.register_load(b.register_alloc("r"), bad ? b.psum("t", 1, {1}, I32) : b.sbuf("t", 1, {1}, I32));
     }},
    {"StoresARegister", "illegal-space", "src: is not a register",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 1, {1}, I32), u = b.sbuf("u", 1, {1}, I32);
       b.register_store(t, bad ? u : b.register_alloc("r"));
     }},
    {"MovesBetweenRegisters", "illegal-space", "src: is not a register",
     [](Builder& b, bool bad) {
       b.register_move(b.register_alloc("r"), bad ? b.sbuf("t", 1, {1}, I32) : b.register_alloc("s"));
     }},
    {"MovesWords", "illegal-engine", "4294967296 does not fit the 32 bits",
     [](Builder& b, bool bad) { b.register_move(b.register_alloc("r"), bad ? 4294967296 : 5); }},
    {"EnginesDoNotReadRegisters", "illegal-space", "only loops, addresses and register_store read one",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 1, {1}, I32), r = b.register_alloc("r");
       b.tensor_copy(t, bad ? r : b.sbuf("u", 1, {1}, I32), Engine::Vector);
     }},
    {"DmaDoesNotMoveRegisters", "illegal-space", "only loops, addresses and register_store read one",
     [](Builder& b, bool bad) {
       b.dma_copy(b.output("y", I32, {1}), bad ? b.register_alloc("r") : b.sbuf("u", 1, {1}, I32));
     }},
};
TRN_VERIFY_CASES(VerifyRegisterInstructions, kRegisterRules);

// dst = rows `step / 4` * v of x, v up to `max`.
void start(Builder& b, const Access& from, std::int64_t step, std::int64_t max, DmaOptions options = {}) {
  const Access x = b.input("x", F32, {8, 4}), t = b.sbuf("t", 2, {4}, F32);
  b.dma_copy_at(t, x(ds(0, 2), all), {.src = {from, step, max}}, options);
}

const std::vector<Case> kStarts{
    {"InsideForEveryValue", "out-of-bounds", "src: bytes 0..143 of tensor 'x', which has bytes 0..127",
     [](Builder& b, bool bad) { start(b, loaded(b), 4, bad ? 7 : 6); }},
    {"AStepForward", "size-limit", "step 0 and largest value 3",
     [](Builder& b, bool bad) { start(b, loaded(b), bad ? 0 : 8, 3); }},
    {"ALargestValue", "size-limit", "largest value -1",
     [](Builder& b, bool bad) { start(b, loaded(b), 8, bad ? -1 : 0); }},
    {"OneValue", "size-limit", "src_offset: 2 elements",
     [](Builder& b, bool bad) { start(b, b.sbuf("v", 1, {bad ? 2 : 1}, I32), 8, 3); }},
    {"AWord", "illegal-dtype", "a start is int32 or uint32",
     [](Builder& b, bool bad) { start(b, b.sbuf("v", 1, {1}, bad ? F32 : U32), 8, 3); }},
    {"FromSbuf", "illegal-space", "src_offset: DMA does not reach PSUM",
     [](Builder& b, bool bad) { start(b, bad ? b.psum("v", 1, {1}, I32) : b.sbuf("v", 1, {1}, I32), 8, 3); }},
    {"NotWithDescriptorsMadeBefore", "illegal-engine", "cannot have descriptors made beforehand",
     [](Builder& b, bool bad) { start(b, loaded(b), 8, 3, {.dge = bad ? DgeMode::Static : DgeMode::Hardware}); }},
    {"InHbmOnly", "illegal-space", "only a side in HBM starts where a register says",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {8, 4}), t = b.sbuf("t", 2, {4}, F32);
       const StartAt at{loaded(b), 4, 0};
       b.dma_copy_at(t, x(ds(0, 2), all), bad ? StartsAt{.dst = at} : StartsAt{.src = at});
     }},
};
TRN_VERIFY_CASES(VerifyStarts, kStarts);

const std::vector<Case> kLoops{
    {"CountsByARegister", "illegal-space", "'t' is not a register",
     [](Builder& b, bool bad) {
       b.fori_loop("i", bad ? b.sbuf("t", 1, {1}, I32) : loaded(b), 4, [](const Affine&) {});
     }},
    {"TheRegisterIsInScope", "tile-out-of-scope", "register 'n' is not allocated here",
     [](Builder& b, bool bad) {
       Access n;
       b.sequential("k", 2, [&](const Affine&) {
         n = loaded(b);
         if (!bad) b.fori_loop("i", n, 4, [](const Affine&) {});
       });
       if (bad) b.fori_loop("i", n, 4, [](const Affine&) {});
     }},
    {"BoundsHoldForTheLargestCount", "out-of-bounds", "src: bytes 0..159",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {8, 4}), t = b.sbuf("t", 2, {4}, F32);
       Access from = x(ds(0, 2), all);
       b.fori_loop("i", loaded(b), bad ? 5 : 4, [&](const Affine& i) {
         from.offset = i * 8;
         b.dma_copy(t, from);
       });
     }},
    {"TilesDoNotFollowTheVariable", "loop-kind", "dst: follows the variable of a loop of the device",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 32, {4}, F32);
       b.fori_loop("i", loaded(b), 4, [&](const Affine& i) { b.memset(t(all, ds(bad ? i : Affine(1), 1)), 0); });
     }},
    {"AttributesDoNotFollowTheVariable", "loop-kind", "accumulate: follows the variable",
     [](Builder& b, bool bad) {
       const Access s = b.sbuf("s", 32, {32}, BF16), acc = b.psum("acc", 32, {32});
       b.fori_loop("i", loaded(b), 4,
                   [&](const Affine& i) { b.nc_matmul(acc, s, s, {.accumulate = bad ? i : Affine(1)}); });
     }},
    {"TransposesDoNotFollowTheVariable", "loop-kind", "src: follows the variable",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", BF16, {128, 16}), t = b.sbuf("t", 16, {32}, BF16);
       b.fori_loop("i", loaded(b), 4,
                   [&](const Affine& i) { b.dma_transpose(t, x(ds(bad ? i * 32 : Affine(0), 32), all)); });
     }},
    {"OneRegisterPerAddress", "loop-kind", "an address follows one register, this one 2",
     [](Builder& b, bool bad) {
       const Access x = b.input("x", F32, {8, 8}), t = b.sbuf("t", 1, {1}, F32);
       b.fori_loop("i", loaded(b), 8, [&](const Affine& i) {
         b.fori_loop("j", loaded(b, "m"), 8,
                     [&](const Affine& j) { b.dma_copy(t, x(ds(i, 1), ds(bad ? j : Affine(3), 1))); });
       });
     }},
    {"AWhileLoopLoadsItsCondition", "loop-kind", "nothing in it changes register 'n'",
     [](Builder& b, bool bad) {
       const Access n = loaded(b), t = b.sbuf("t", 1, {1}, I32);
       b.memset(t, 0);
       b.while_loop("w", n, 4, [&] {
         if (!bad) b.register_load(n, t);
       });
     }},
    {"TheConditionIsLoadedAnew", "loop-kind", "register 'n' was the condition of a loop",
     [](Builder& b, bool bad) {
       const Access n = loaded(b), t = b.sbuf("t", 1, {1}, I32);
       b.memset(t, 0);
       b.while_loop("w", n, 4, [&] { b.register_load(n, t); });
       if (!bad) b.register_load(n, t);
       b.register_store(t, n);
     }},
    {"OuterRegistersStay", "loop-kind", "register 'n' from outside the loop 'i' changes inside it",
     [](Builder& b, bool bad) {
       const Access n = loaded(b), t = b.sbuf("t", 1, {1}, I32);
       b.memset(t, 0);
       b.fori_loop("i", loaded(b, "m"), 4,
                   [&](const Affine&) { b.register_load(bad ? n : b.register_alloc("inner"), t); });
     }},
    {"SumsBegunInADynamicLoopMayNotHaveBegun", "loop-kind", "nothing began before it",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 32, {32}, F32), r = b.sbuf("r", 32, {1}, F32);
       const auto sum = [&](ReduceCmd cmd) {
         b.activation(t, ActFunction::Exp, t, {.reduce_res = r, .reduce_cmd = cmd});
       };
       if (!bad) sum(ReduceCmd::ResetReduce);
       b.fori_loop("i", loaded(b), 4, [&](const Affine&) { sum(ReduceCmd::ResetReduce); });
       sum(ReduceCmd::Reduce);
     }},
};
TRN_VERIFY_CASES(VerifyDynamicLoops, kLoops);

// dst of `n` elements from two sources.
void add(Builder& b, std::int64_t n, DgeMode dge = DgeMode::Default) {
  const Access x = b.input("x", F32, {8, 4}), t = b.sbuf("t", 8, {4}, F32), u = b.sbuf("u", 8, {8}, F32);
  b.dma_compute(t, {x, u(all, ds(0, n))}, {.dge = dge});
}
void add_rows(Builder& b, DType index, std::int64_t columns) {
  const Access x = b.input("x", F32, {8, 4}), t = b.sbuf("t", 4, {columns}, F32);
  b.dma_gather_add(t, x, b.sbuf("i", 4, {1}, index));
}

const std::vector<Case> kAdders{
    {"EqualSizes", "size-limit", "src1: 40 elements but dst has 32", [](Builder& b, bool bad) { add(b, bad ? 5 : 4); }},
    {"StaticDescriptorsWithoutAnIndex", "illegal-engine", "cannot come from 'hwdge'",
     [](Builder& b, bool bad) { add(b, 4, bad ? DgeMode::Hardware : DgeMode::Static); }},
    {"IndicesAreWords", "illegal-dtype", "row indices are uint32 or int32",
     [](Builder& b, bool bad) { add_rows(b, bad ? U16 : U32, 4); }},
    {"EqualRows", "size-limit", "dst: rows of 3 elements", [](Builder& b, bool bad) { add_rows(b, U32, bad ? 3 : 4); }},
    {"RowsBesideAnIndexInSbuf", "illegal-space", "src1: the rows that indices pair with HBM lie in SBUF",
     [](Builder& b, bool bad) {
       const Access x = b.output("x", F32, {8, 4}), y = b.input("y", F32, {4, 4}), t = b.sbuf("t", 4, {4}, F32);
       b.dma_scatter_add(x, bad ? y : t, b.sbuf("i", 4, {1}, U32));
     }},
    {"NoPsum", "illegal-space", "src0: DMA does not reach PSUM",
     [](Builder& b, bool bad) {
       const Access t = b.sbuf("t", 8, {4}, F32), s = bad ? b.psum("s", 8, {4}) : b.sbuf("s", 8, {4}, F32);
       b.dma_compute(t, {s, t});
     }},
};
TRN_VERIFY_CASES(VerifyAdders, kAdders);

TEST(VerifyAdders, NoIndexOnTrn1) {
  Builder b("p", machine("trn1"));
  add_rows(b, U32, 4);
  EXPECT_NE(all_messages(verify(b.finish_unverified(), machine("trn1"))).find("trn1 has no gathers"),
            std::string::npos);
}

std::vector<std::int64_t> mask(std::int64_t changed) {
  std::vector<std::int64_t> m(32);
  for (std::size_t i = 0; i < m.size(); ++i) m[i] = static_cast<std::int64_t>(31 - i);
  m[5] = changed;
  return m;
}

const std::vector<Case> kGathers{
    {"ListsOfWords", "illegal-dtype", "nc_n_gather indices are uint32",
     [](Builder& b, bool bad) {
       b.nc_n_gather(b.sbuf("d", 4, {8}, F32), b.sbuf("s", 4, {6}, F32), b.sbuf("i", 4, {8}, bad ? U16 : U32));
     }},
    {"AsManyAsTheList", "size-limit", "indices: 7 elements per partition but dst has 8",
     [](Builder& b, bool bad) {
       b.nc_n_gather(b.sbuf("d", 4, {8}, F32), b.sbuf("s", 4, {6}, F32), b.sbuf("i", 4, {bad ? 7 : 8}, U32));
     }},
    {"TheSameDType", "illegal-dtype", "dst: bfloat16 but data is float32",
     [](Builder& b, bool bad) {
       b.nc_n_gather(b.sbuf("d", 4, {8}, bad ? BF16 : F32), b.sbuf("s", 4, {6}, F32), b.sbuf("i", 4, {8}, U32));
     }},
    {"InSbuf", "illegal-space", "the gpsimd engine does not reach PSUM",
     [](Builder& b, bool bad) {
       const Access s = bad ? b.psum("s", 4, {6}) : b.sbuf("s", 4, {6}, F32);
       b.nc_n_gather(b.sbuf("d", 4, {8}, F32), s, b.sbuf("i", 4, {8}, U32));
     }},
    {"AMaskOfPartitions", "illegal-engine", "entry 32; a partition from 0 to 31, or 255",
     [](Builder& b, bool bad) {
       b.nc_stream_shuffle(b.sbuf("d", 64, {8}, F32), b.sbuf("s", 64, {8}, F32), mask(bad ? 32 : 255));
     }},
    {"AMaskForEveryPartition", "illegal-engine", "31 entries; one for each of the 32",
     [](Builder& b, bool bad) {
       std::vector<std::int64_t> m = mask(0);
       if (bad) m.pop_back();
       b.nc_stream_shuffle(b.sbuf("d", 64, {8}, F32), b.sbuf("s", 64, {8}, F32), m);
     }},
    {"ShuffledPartitionsAreThere", "partition-rule",
     "src: 40 partitions, but partition 32 of dst comes from its partition 63",
     [](Builder& b, bool bad) {
       b.nc_stream_shuffle(b.sbuf("d", 64, {8}, F32), b.sbuf("s", bad ? 40 : 64, {8}, F32), mask(0));
     }},
    {"BothSidesStartWhereTheLargerMay", "partition-rule", "src: a shuffle of 64 partitions starts at a multiple of 64",
     [](Builder& b, bool bad) {
       const Access s = b.sbuf("s", 128, {8}, F32), d = b.sbuf("d", 64, {8}, F32);
       std::vector<std::int64_t> m(32, 0);
       b.nc_stream_shuffle(d, s(ds(bad ? 32 : 64, bad ? 32 : 64), all), bad ? std::vector<std::int64_t>(32, 255) : m);
     }},
    {"ShufflesKeepTheDType", "illegal-dtype", "dst: bfloat16 but src is float32",
     [](Builder& b, bool bad) {
       b.nc_stream_shuffle(b.sbuf("d", 32, {8}, bad ? BF16 : F32), b.sbuf("s", 32, {8}, F32), mask(0));
     }},
};
TRN_VERIFY_CASES(VerifyGathers, kGathers);

// ---- the program as a value

Program looping(std::int64_t most) {
  Builder b("looping", machine("trn2"));
  const Access x = b.input("x", F32, {32, 4}), y = b.output("y", F32, {32, 4}), n = loaded(b);
  const Access t = b.sbuf("t", 8, {4}, F32);
  b.dma_copy(t, x(ds(0, 8), all));
  b.fori_loop("i", n, most, [&](const Affine& i) { b.dma_copy(t, x(ds(i * 8, 8), all)); });
  b.dma_copy(y(ds(0, 8), all), t);
  b.while_loop("w", n, 3, [&] { b.register_load(n, b.input("z", I32, {1})); });
  return b.finish_unverified();
}

TEST(DynamicLoops, PrintAndSerialize) {
  const Program p = looping(4);
  const std::string text = print(p);
  EXPECT_NE(text.find("n = register(1 x 1, int32)"), std::string::npos) << text;
  EXPECT_NE(text.find("for i in 0..n (counted, at most 4)"), std::string::npos) << text;
  EXPECT_NE(text.find("w: while n (at most 3)"), std::string::npos) << text;
  EXPECT_EQ(deserialize(serialize(p)), p);
  EXPECT_NE(looping(3).hash(), p.hash());
  EXPECT_TRUE(p.has_dynamic_loops());
}

// The loop may not run: what it overwrites is still there for what follows.
TEST(DynamicLoops, DependencesReachAcross) {
  std::set<std::pair<std::int32_t, std::int32_t>> edges;
  for (const Dependency& d : depend(looping(4), machine("trn2"))) edges.insert({d.from, d.to});
  EXPECT_TRUE(edges.contains({2, 4})) << "the copy before the loop, and the one after it";
  EXPECT_TRUE(edges.contains({3, 4}));
  EXPECT_TRUE(edges.contains({2, 3}));
}

TEST(DynamicLoops, ConstructionChecksTheRegister) {
  const auto parts = [](LoopDecl loop) {
    Program::Parts p;
    p.name = "p";
    p.tiles = {{"n", Space::Register, I32, 1, {1}, 1}};
    p.loops = {std::move(loop)};
    p.statements = {{StatementKind::Alloc, 0, 0}, {StatementKind::Loop, 0, 2}};
    return p;
  };
  EXPECT_NO_THROW((void)Program(parts({"i", 2, LoopKind::Counted, 0})));
  EXPECT_THROW((void)Program(parts({"i", 2, LoopKind::Counted, 1})), InternalError);
  EXPECT_THROW((void)Program(parts({"i", 2, LoopKind::Counted, -1})), InternalError);
  EXPECT_THROW((void)Program(parts({"i", 2, LoopKind::Parallel, 0})), InternalError);
}

// Everybody who walks a program recurses into its loops.
TEST(Program, LoopsNestAsDeepAsTheyMay) {
  const auto nest = [](std::int32_t depth) {
    Program::Parts p;
    p.name = "p";
    for (std::int32_t d = 0; d < depth; ++d) {
      p.loops.push_back({"i", 2, LoopKind::Sequential});
      p.statements.push_back({StatementKind::Loop, d, depth});
    }
    return p;
  };
  EXPECT_NO_THROW((void)Program(nest(kDeepestLoop)));
  EXPECT_THROW((void)Program(nest(kDeepestLoop + 1)), InternalError);
  EXPECT_THROW((void)Program(nest(1000000)), InternalError);
}

TEST(Builder, SeveralIndicesPerPartitionAreSeveralCopies) {
  Builder b("gather", machine("trn2"));
  const Access x = b.input("x", F32, {8, 4}), i = b.sbuf("i", 16, {3}, U32), t = b.sbuf("t", 16, {3, 4}, F32);
  b.dma_gather(t, x, i);
  b.dma_scatter(b.output("y", F32, {8, 4}), t, i);
  const Program p = b.finish_unverified();
  EXPECT_EQ(p.instructions().size(), 6u);
  EXPECT_EQ(all_messages(verify(p, machine("trn2"))), "");
}

}  // namespace
}  // namespace trn::tile::test
