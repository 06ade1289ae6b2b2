// Rules about the searches: max8, nc_find_index8, nc_match_replace8 and nonzero_with_count.
#include "verify_cases.hpp"

namespace trn::tile::test {
namespace {

Access sbuf(Builder& b, const char* name, Shape free, DType dtype = F32, std::int64_t partitions = 32) {
  return b.sbuf(name, partitions, std::move(free), dtype);
}

// `src` elements per partition, and `dst` places for the largest.
void largest(Builder& b, Shape src, Shape dst = {8}) {
  b.max8(sbuf(b, "d", std::move(dst)), sbuf(b, "s", std::move(src)));
}
void find(Builder& b, std::int64_t data, Shape vals = {8}, DType dst = U32, Shape places = {8}) {
  b.nc_find_index8(sbuf(b, "d", std::move(places), dst), sbuf(b, "s", {data}), sbuf(b, "v", std::move(vals)));
}
void replace(Builder& b, std::int64_t data, std::int64_t vals, Access dst_idx = {}) {
  b.nc_match_replace8(sbuf(b, "d", {data}), sbuf(b, "s", {data}), sbuf(b, "v", {vals}), 0.0, dst_idx);
}

const std::vector<Case> kSearch{
    {"AtLeastEight", "size-limit", "src: 7 elements per partition; max8 takes 8 to 16384",
     [](Builder& b, bool bad) { largest(b, {bad ? 7 : 8}); }},
    {"AtMost16384", "size-limit", "src: 16385 elements per partition; max8 takes 8 to 16384",
     [](Builder& b, bool bad) { largest(b, {bad ? 16385 : 16384}); }},
    {"EightResults", "size-limit", "dst: 16 elements per partition; max8 takes 8 to 8",
     [](Builder& b, bool bad) { largest(b, {32}, {bad ? 16 : 8}); }},
    {"TwoFreeDimensions", "size-limit", "src: 3 free dimensions; max8 takes at most 2",
     [](Builder& b, bool bad) {
       Access s = sbuf(b, "s", {64});
       s.dims = bad ? std::vector<Dim>{{32, 2}, {6, 2}, {1, 4}} : std::vector<Dim>{{32, 2}, {1, 8}};
       b.max8(sbuf(b, "d", {8}), s);
     }},
    {"OneDimensionOfResults", "size-limit", "dst: 2 free dimensions; max8 takes at most 1",
     [](Builder& b, bool bad) {
       Access d = sbuf(b, "d", {32});
       d.dims = bad ? std::vector<Dim>{{16, 2}, {1, 4}} : std::vector<Dim>{{2, 8}};
       b.max8(d, sbuf(b, "s", {32}));
     }},
    {"SamePartitions", "partition-rule", "src: 64 partitions but dst has 32",
     [](Builder& b, bool bad) { b.max8(sbuf(b, "d", {8}), sbuf(b, "s", {32}, F32, bad ? 64 : 32)); }},
    {"FindAtLeastEight", "size-limit", "data: 7 elements per partition; nc_find_index8 takes 8 to 16384",
     [](Builder& b, bool bad) { find(b, bad ? 7 : 8); }},
    {"FindAtMost16384", "size-limit", "data: 16385 elements per partition",
     [](Builder& b, bool bad) { find(b, bad ? 16385 : 16384); }},
    {"FindEightValues", "size-limit", "vals: 7 elements per partition; nc_find_index8 takes 8 to 8",
     [](Builder& b, bool bad) { find(b, 32, {bad ? 7 : 8}); }},
    {"FindEightPlaces", "size-limit", "dst: 4 elements per partition",
     [](Builder& b, bool bad) { find(b, 32, {8}, U32, {bad ? 4 : 8}); }},
    {"FindUnsignedPlaces", "illegal-dtype", "dst: int32; places are uint16 or uint32",
     [](Builder& b, bool bad) { find(b, 32, {8}, bad ? I32 : U16); }},
    {"FindValuesOfTwoDimensions", "size-limit", "vals: 3 free dimensions; nc_find_index8 takes at most 2",
     [](Builder& b, bool bad) {
       Access v = sbuf(b, "v", {64});
       v.dims = bad ? std::vector<Dim>{{32, 2}, {6, 2}, {1, 2}} : std::vector<Dim>{{32, 2}, {1, 4}};
       b.nc_find_index8(sbuf(b, "d", {8}, U32), sbuf(b, "s", {32}), v);
     }},
    {"ReplaceAtMost16384", "size-limit", "data: 16385 elements per partition; nc_match_replace8 takes 1 to 16384",
     [](Builder& b, bool bad) { replace(b, bad ? 16385 : 16384, 8); }},
    {"ReplaceEightValues", "size-limit", "vals: 9 elements per partition",
     [](Builder& b, bool bad) { replace(b, 4, bad ? 9 : 8); }},
    {"ReplaceEightPlaces", "size-limit", "dst_idx: 4 elements per partition",
     [](Builder& b, bool bad) {
       const Access idx = sbuf(b, "i", {bad ? 4 : 8}, U16);
       replace(b, 32, 8, idx);
     }},
    {"ReplaceUnsignedPlaces", "illegal-dtype", "dst_idx: float32; places are uint16 or uint32",
     [](Builder& b, bool bad) {
       const Access idx = sbuf(b, "i", {8}, bad ? F32 : U32);
       replace(b, 32, 8, idx);
     }},
    {"ReplaceAsLargeAsData", "size-limit", "data: 32 elements per partition but dst has 31",
     [](Builder& b, bool bad) {
       b.nc_match_replace8(sbuf(b, "d", {bad ? 31 : 32}), sbuf(b, "s", {32}), sbuf(b, "v", {8}), 0.0);
     }},
};
TRN_VERIFY_CASES(VerifySearch, kSearch);

void nonzero(Builder& b, DType dst, DType src, std::int64_t room = 33, std::int64_t offset = 0,
             std::int64_t padding = -1) {
  b.nonzero_with_count(sbuf(b, "d", {room}, dst), sbuf(b, "s", {32}, src), offset, padding);
}
constexpr std::int64_t kLargest = (std::int64_t{1} << 31) - 1;
const std::vector<Case> kNonzero{
    {"ResultsAreInt32", "illegal-dtype", "dst: uint32; places and their count are int32",
     [](Builder& b, bool bad) { nonzero(b, bad ? U32 : I32, F32); }},
    {"OfFloat32OrInt32", "illegal-dtype", "src: bfloat16; use float32 or int32",
     [](Builder& b, bool bad) { nonzero(b, I32, bad ? BF16 : I32); }},
    {"RoomForTheCount", "size-limit", "dst: 32 elements per partition; the places of 32 and their count need 33",
     [](Builder& b, bool bad) { nonzero(b, I32, F32, bad ? 32 : 33); }},
    {"PlacesAreInt32Numbers", "size-limit", "index_offset: 2147483617 with 32 elements; places are int32 numbers",
     [](Builder& b, bool bad) { nonzero(b, I32, F32, 33, kLargest - (bad ? 30 : 31)); }},
    {"PaddingIsAnInt32Number", "illegal-dtype", "padding_val: 2147483648 is not an int32 value",
     [](Builder& b, bool bad) { nonzero(b, I32, F32, 33, 0, kLargest + (bad ? 1 : 0)); }},
    {"NotInPsum", "illegal-space", "src: the gpsimd engine does not reach PSUM",
     [](Builder& b, bool bad) {
       const Access s = bad ? b.psum("s", 32, {32}) : sbuf(b, "s", {32});
       b.nonzero_with_count(sbuf(b, "d", {33}, I32), s);
     }},
    {"SamePartitions", "partition-rule", "src: 64 partitions but dst has 32",
     [](Builder& b, bool bad) {
       b.nonzero_with_count(sbuf(b, "d", {33}, I32), sbuf(b, "s", {32}, F32, bad ? 64 : 32));
     }},
};
TRN_VERIFY_CASES(VerifyNonzero, kNonzero);

TEST(VerifyNonzero, NotOnTrn1) {
  const auto messages = [](const char* name) {
    Builder b("nonzero", machine(name));
    nonzero(b, I32, F32);
    return all_messages(verify(b.finish_unverified(), machine(name)));
  };
  EXPECT_NE(messages("trn1").find("illegal-engine"), std::string::npos);
  EXPECT_NE(messages("trn1").find("trn1 has no nonzero_with_count"), std::string::npos);
  EXPECT_EQ(messages("trn3"), "");
}

}  // namespace
}  // namespace trn::tile::test
