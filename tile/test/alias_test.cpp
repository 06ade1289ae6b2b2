// An output that continues an input: what the builder records, what the verifier refuses, the listing, the file format,
// and the dependencies between loads of the one and stores of the other.
#include <gtest/gtest.h>

#include <functional>
#include <trn/tile/builder.hpp>
#include <trn/tile/depend.hpp>
#include <trn/tile/print.hpp>
#include <trn/tile/serialize.hpp>
#include <trn/tile/verify.hpp>

namespace trn::tile {
namespace {

constexpr auto F32 = DType::Float32;

// y = x + 1 in x's memory, 2 x 128 rows.
Program increment(const Machine& machine) {
  Builder b("increment", machine);
  const Access x = b.input("x", F32, {256, 8}, {10, 1}), y = b.output_over("y", x);
  b.sequential("i", 2, [&](const Affine& i) {
    const Access t = b.sbuf("t", 128, {8}, F32);
    b.dma_copy(t, x(ds(i * 128, 128)));
    b.tensor_scalar(t, t, AluOp::Add, 1.0);
    b.dma_copy(y(ds(i * 128, 128)), t);
  });
  return b.finish();
}

TEST(Alias, BuilderRecordsDtypeShapeAndStrides) {
  const Program p = increment(machine("trn2"));
  const TensorDecl& y = p.tensors()[1];
  EXPECT_EQ(y, (TensorDecl{"y", TensorKind::Output, F32, {256, 8}, {10, 1}, "x", false}));
  EXPECT_TRUE(p.tensors()[0].alias.empty());
  Builder b("partial", machine("trn2"));
  const Access x = b.input("x", F32, {4, 4});
  (void)b.partial_output("y", x);
  EXPECT_TRUE(b.finish().tensors()[1].partial);
}

TEST(Alias, IsPartOfListingFileAndHash) {
  const Program p = increment(machine("trn2"));
  EXPECT_NE(print(p).find("output y: float32 (256, 8) strides (10, 1), in the memory of x\n"), std::string::npos)
      << print(p);
  EXPECT_EQ(deserialize(serialize(p)), p);
  Program::Parts parts = p.parts();
  parts.tensors[1].alias.clear();
  EXPECT_NE(Program(parts).hash(), p.hash());
}

// The program with its tensors changed, verified.
std::string rule_after(const std::function<void(std::vector<TensorDecl>&)>& change) {
  Program::Parts parts = increment(machine("trn2")).parts();
  change(parts.tensors);
  const std::vector<Diagnostic> found = verify(Program(parts), machine("trn2"));
  return found.empty() ? "" : found.front().rule + ": " + found.front().message;
}

TEST(Alias, VerifierRefusesWhatDoesNotFit) {
  const auto expect = [](const char* part, const std::function<void(std::vector<TensorDecl>&)>& change) {
    const std::string text = rule_after(change);
    EXPECT_EQ(text.rfind("illegal-alias: ", 0), 0u) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  EXPECT_EQ(rule_after([](auto&) {}), "");
  expect("not an input of the program", [](auto& t) { t[1].alias = "z"; });
  expect("not an input of the program", [](auto& t) { t[1].alias = "y"; });
  expect("make them equal", [](auto& t) { t[1].dtype = DType::Int32; });
  expect("make them equal", [](auto& t) { t[1].shape[1] = 7; });
  expect("make them equal", [](auto& t) { t[0].strides = {12, 1}; });
  expect("continues no input", [](auto& t) { t[1].partial = true, t[1].alias.clear(); });
  expect("neither an alias", [](auto& t) { t[0].partial = true; });
  expect("as 'y' does already", [](auto& t) {
    t.push_back(t[1]);
    t.back().name = "again";
  });
}

TEST(Alias, LoadsAndStoresOfOneMemoryDependOnEachOther) {
  const Machine& m = machine("trn2");
  const auto edges = depend(increment(m), m);
  const auto has = [&](const Dependency& d) { return std::ranges::find(edges, d) != edges.end(); };
  EXPECT_TRUE(has({0, 2, Hazard::WriteAfterRead, false})) << "the store waits for the load";
  EXPECT_FALSE(has({2, 0, Hazard::ReadAfterWrite, true})) << "other rows are free";
  Builder b("apart", m);
  const Access x = b.input("x", F32, {4, 4}), y = b.output("y", F32, {4, 4}), t = b.sbuf("t", 4, {4}, F32),
               u = b.sbuf("u", 4, {4}, F32);
  b.memset(u, 0, Engine::Vector);
  b.dma_copy(y, u);
  b.dma_copy(t, x);
  for (const Dependency& d : depend(b.finish(), m)) EXPECT_NE(d.to, 2) << "nothing ties two tensors without an alias";
}

}  // namespace
}  // namespace trn::tile
