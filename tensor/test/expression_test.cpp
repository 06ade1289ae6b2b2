// Expressions: what parse() and interleaved() make of them, and one test for each mistake they refuse.
#include <gtest/gtest.h>

#include <trn/core/error.hpp>
#include <trn/tensor/expression.hpp>

#include "support/message_of.hpp"

namespace trn::tensor {
namespace {

using Ranks = std::vector<std::int64_t>;

template <class F> std::string refusal(F call) { return testing_support::message_of<InvalidArgument>(call); }

std::string shown(std::string_view text, const Ranks& ranks) { return to_string(parse(text, ranks)); }

TEST(Expression, NumbersLabelsInOrderOfAppearance) {
  const Expression e = parse("ijk,kl->lij");
  EXPECT_EQ(e.inputs, (std::vector<std::vector<Label>>{{0, 1, 2}, {2, 3}}));
  EXPECT_EQ(e.output, (std::vector<Label>{3, 0, 1}));
  EXPECT_EQ(e.names, (std::vector<std::string>{"i", "j", "k", "l"}));
  EXPECT_EQ(to_string(e), "ijk, kl -> lij");
}

TEST(Expression, ImplicitOutputsAreSortedSingleLabels) {
  EXPECT_EQ(to_string(parse("ba")), "ba -> ab");
  EXPECT_EQ(to_string(parse("ij,jk")), "ij, jk -> ik");
  EXPECT_EQ(to_string(parse("ij,jh")), "ij, jh -> hi");
  EXPECT_EQ(to_string(parse("ii")), "ii -> ");
  EXPECT_EQ(to_string(parse("iij")), "iij -> j");
  EXPECT_EQ(to_string(parse("aZ,b")), "aZ, b -> Zab");  // capitals first, by code point
  EXPECT_EQ(to_string(parse("")), " -> ");
  EXPECT_EQ(to_string(parse(",")), ",  -> ");
}

TEST(Expression, AcceptsEveryPythonPatternThatWentWrong) {
  EXPECT_EQ(parse("ij,jk->ki").output, (std::vector<Label>{2, 0}));
  EXPECT_EQ(parse("ij,jk->k").output, (std::vector<Label>{2}));
  EXPECT_EQ(parse("ij,jk->").output, (std::vector<Label>{}));
  EXPECT_EQ(parse("bji,bjk->bik").output, (std::vector<Label>{0, 2, 3}));
}

TEST(Expression, EllipsisStandsForTheAxesWithoutALabel) {
  const Expression e = parse("i...,...j->...ij", Ranks{3, 2});
  EXPECT_EQ(e.names, (std::vector<std::string>{"i", "...[-2]", "...[-1]", "j"}));
  EXPECT_EQ(e.inputs, (std::vector<std::vector<Label>>{{0, 1, 2}, {2, 3}}));  // aligned at the last axis
  EXPECT_EQ(e.output, (std::vector<Label>{1, 2, 0, 3}));
  EXPECT_EQ(shown("b...a", {4}), "b...a -> ...ab");
  EXPECT_EQ(shown("...", {0}), " -> ");
  EXPECT_EQ(shown("i->i...", {1}), "i -> i");
}

TEST(Expression, SpacesAndAnyUnicodeLabel) {
  EXPECT_EQ(to_string(parse(" i j ,\tj k ->  i k ")), "ij, jk -> ik");
  const Expression e = parse("αβ,β𝛾->𝛾α");
  EXPECT_EQ(e.names, (std::vector<std::string>{"α", "β", "𝛾"}));
  EXPECT_EQ(e.output, (std::vector<Label>{2, 0}));
  EXPECT_EQ(to_string(parse("71,17->7")), "71, 17 -> 7");
}

TEST(Expression, InterleavedForm) {
  EXPECT_EQ(interleaved({{0, 1}, {1, 2}}, {{2, 0}}, Ranks{2, 2}), parse("ab,bc->ca"));
  EXPECT_EQ(to_string(interleaved({{5, 3}}, std::nullopt, Ranks{2})), "fd -> df");
  EXPECT_EQ(to_string(interleaved({{kEllipsis, 100}}, {{100, kEllipsis}}, Ranks{3})), "...[100] -> [100]...");
  EXPECT_EQ(refusal([] { (void)interleaved({{-2}}, std::nullopt, Ranks{1}); }),
            "tensor.einsum: label -2 is negative; labels are >= 0, or kEllipsis");
}

TEST(Expression, SizesAgreeOrAreOne) {
  const std::vector<Shape> shapes = {{3, 1}, {4, 5}};
  EXPECT_EQ(sizes_of(parse("ij,jk->ik"), shapes), (Sizes{3, 4, 5}));
  const std::vector<Shape> empty = {{0, 1}, {1, 5}};
  EXPECT_EQ(sizes_of(parse("ij,jk->ik"), empty), (Sizes{0, 1, 5}));
}

TEST(ExpressionErrors, ExtentsThatDiffer) {
  const std::vector<Shape> shapes = {{2, 3, 7}, {8, 4}};
  EXPECT_EQ(refusal([&] { (void)sizes_of(parse("abk,kc->abc"), shapes); }),
            "tensor.einsum: label 'k' has extent 7 in operand 1 and 8 in operand 2; extents must agree or be 1\n"
            "  abk, kc -> abc\n"
            "    ^  ^");
}

TEST(ExpressionErrors, DiagonalOfUnequalExtents) {
  const std::vector<Shape> shapes = {{2, 3}};
  EXPECT_EQ(refusal([&] { (void)sizes_of(parse("ii->i"), shapes); }),
            "tensor.einsum: label 'i' has extent 2 in operand 1 and 3 in operand 1; extents must agree or be 1\n"
            "  ii -> i\n"
            "  ^^");
}

TEST(ExpressionErrors, UnknownOutputLabel) {
  EXPECT_EQ(refusal([] { (void)parse("αb,bc->αz"); }),
            "tensor.einsum: output label 'z' is in no operand; every output label is an input's\n"
            "  αb,bc->αz\n"
            "          ^");
}

TEST(ExpressionErrors, RepeatedOutputLabel) {
  EXPECT_EQ(refusal([] { (void)parse("ab->aba"); }),
            "tensor.einsum: label 'a' is twice in the output; an output label occurs once\n"
            "  ab->aba\n"
            "      ^ ^");
  EXPECT_EQ(refusal([] { (void)parse("a...->...a...", Ranks{2}); }),
            "tensor.einsum: label '...' is twice in the output; an output label occurs once\n"
            "  a...->...a...\n"
            "        ^   ^");
}

TEST(ExpressionErrors, TwoEllipses) {
  EXPECT_EQ(refusal([] { (void)parse("...a...", Ranks{3}); }),
            "tensor.einsum: operand 1 has 2 ellipses; it may have one\n"
            "  ...a...\n"
            "  ^   ^");
}

TEST(ExpressionErrors, EllipsisMissingInTheOutput) {
  EXPECT_EQ(refusal([] { (void)parse("a...->a", Ranks{3}); }),
            "tensor.einsum: the ellipsis stands for 2 axes that the output lacks; write '...' in the output\n"
            "  a...->a\n"
            "   ^");
}

TEST(ExpressionErrors, EllipsisWithoutRanks) {
  EXPECT_EQ(refusal([] { (void)parse("a..."); }),
            "tensor.einsum: what the ellipsis stands for depends on ranks; give them\n"
            "  a...\n"
            "   ^");
}

TEST(ExpressionErrors, Rank) {
  EXPECT_EQ(refusal([] {
              (void)parse("ab, bc", Ranks{2, 3});
            }),
            "tensor.einsum: operand 2 has rank 3 and 2 labels; give one label per axis, or '...'\n"
            "  ab, bc\n"
            "      ^");
  EXPECT_EQ(refusal([] { (void)parse("abc...", Ranks{2}); }),
            "tensor.einsum: operand 1 has rank 2 and 3 labels; give one label per axis, or '...'\n"
            "  abc...\n"
            "  ^");
}

TEST(ExpressionErrors, OperandCount) {
  EXPECT_EQ(refusal([] { (void)parse("ab,bc", Ranks{2}); }),
            "tensor.einsum: the expression has 2 operands and 1 is given\n"
            "  ab,bc");
}

TEST(ExpressionErrors, LoneDashArrowHeadAndDots) {
  EXPECT_EQ(refusal([] { (void)parse("ab-ba"); }),
            "tensor.einsum: '-' alone; an arrow is '->'\n"
            "  ab-ba\n"
            "    ^");
  EXPECT_EQ(refusal([] { (void)parse("ab>ba"); }),
            "tensor.einsum: '>' alone; an arrow is '->'\n"
            "  ab>ba\n"
            "    ^");
  EXPECT_EQ(refusal([] { (void)parse("ab-"); }),
            "tensor.einsum: '-' alone; an arrow is '->'\n"
            "  ab-\n"
            "    ^");
  EXPECT_EQ(refusal([] { (void)parse("a..b", Ranks{4}); }),
            "tensor.einsum: a dot alone; an ellipsis is '...'\n"
            "  a..b\n"
            "   ^");
}

TEST(ExpressionErrors, TwoArrowsAndACommaAfterTheArrow) {
  EXPECT_EQ(refusal([] { (void)parse("ab->b->a"); }),
            "tensor.einsum: two arrows; there is one output\n"
            "  ab->b->a\n"
            "    ^  ^");
  EXPECT_EQ(refusal([] { (void)parse("ab->b,a"); }),
            "tensor.einsum: a comma after '->'; there is one output\n"
            "  ab->b,a\n"
            "       ^");
}

TEST(ExpressionErrors, BytesThatAreNotUtf8) {
  EXPECT_EQ(refusal([] { (void)parse("a\xff"); }), "tensor.einsum: byte 1 (0xff) of the expression is not UTF-8");
  EXPECT_EQ(refusal([] { (void)parse("a\xce"); }), "tensor.einsum: byte 1 (0xce) of the expression is not UTF-8");
  EXPECT_EQ(refusal([] { (void)parse("\xc0\x80"); }),  // an overlong form
            "tensor.einsum: byte 0 (0xc0) of the expression is not UTF-8");
}

}  // namespace
}  // namespace trn::tensor
