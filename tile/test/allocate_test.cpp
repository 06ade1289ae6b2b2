// Placement of tiles: live tiles never share bytes (checked by running random programs and following every byte),
// buffers respect PSUM banks, loops side by side reuse bytes, and an overflow says what is live.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <trn/core/error.hpp>
#include <trn/tile/allocate.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/walk.hpp>

namespace trn::tile {
namespace {

constexpr auto F32 = DType::Float32;

struct Range {
  std::int64_t begin, end;
  [[nodiscard]] bool overlaps(const Range& o) const { return begin < o.end && o.begin < end; }
};

Range bytes_of(const Program& p, const Allocation& a, std::size_t tile, std::int64_t buffer) {
  const std::int64_t begin = a.tiles[tile].address + buffer * a.tiles[tile].buffer_stride_bytes;
  return {begin, begin + p.tiles()[tile].bytes_per_partition()};
}

// Writes every tile right after its Alloc and reads it at random places of its scope.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed), b_("random", machine("trn2")) {}
  Program build() {
    block(0);
    return b_.finish_unverified();
  }

 private:
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  void block(int depth) {
    const std::size_t visible = tiles_.size();
    for (int i = draw(2, 6); i > 0; --i) {
      switch (draw(0, depth < 3 ? 3 : 2)) {
        case 0: {
          const bool psum = draw(0, 3) == 0;
          const std::int64_t columns = psum ? draw(1, 256) : draw(1, 12000), buffers = psum ? 1 : draw(1, 3);
          tiles_.push_back(psum ? b_.psum("t", 128, {columns}) : b_.sbuf("t", 128, {columns}, F32, buffers));
          b_.memset(tiles_.back(), 0, Engine::Vector);
          break;
        }
        case 1:
        case 2:
          if (!tiles_.empty()) {
            const Access& t = tiles_[static_cast<std::size_t>(draw(0, static_cast<int>(tiles_.size()) - 1))];
            b_.tensor_copy(t, t, Engine::Vector);
          }
          break;
        default:
          b_.sequential("i", draw(2, 3), [&](const Affine&) { block(depth + 1); });
      }
    }
    tiles_.resize(visible);
  }

  std::mt19937 random_;
  Builder b_;
  std::vector<Access> tiles_;
};

// Which tile's which instance owns each range of bytes, while the program runs.
class Owners {
 public:
  void write(Space space, const Range& range, std::pair<std::size_t, std::int64_t> owner) {
    std::erase_if(owned_[space], [&](const Owned& o) { return o.range.overlaps(range); });
    owned_[space].push_back({range, owner});
  }
  bool intact(Space space, const Range& range, std::pair<std::size_t, std::int64_t> owner) {
    for (const Owned& o : owned_[space]) {
      if (o.range.begin == range.begin && o.range.end == range.end && o.owner == owner) return true;
    }
    return false;
  }

 private:
  struct Owned {
    Range range;
    std::pair<std::size_t, std::int64_t> owner;
  };
  std::map<Space, std::vector<Owned>> owned_;
};

TEST(Allocate, LiveTilesNeverShareBytes) {
  int placed = 0, aliased = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const Program p = RandomProgram(seed).build();
    Allocation a;
    try {
      a = allocate(p, machine("trn2"));
    } catch (const DeviceError&) {
      continue;  // too large
    }
    ++placed;
    Owners owners;
    walk(p, [&](std::int32_t index, const Point& point) {
      const Instruction& i = p.instructions()[static_cast<std::size_t>(index)];
      const auto tile = static_cast<std::size_t>(i.dst().id);
      const std::int64_t instance = point.instances[tile];
      const Range range = bytes_of(p, a, tile, instance % p.tiles()[tile].buffers);
      const Space space = p.tiles()[tile].space;
      if (i.opcode() == Opcode::TensorCopy) {
        EXPECT_TRUE(owners.intact(space, range, {tile, instance})) << "seed " << seed << " tile " << tile;
      }
      owners.write(space, range, {tile, instance});
    });
    for (std::size_t t = 0; t < p.tiles().size(); ++t) {
      const TileDecl& decl = p.tiles()[t];
      const std::int64_t end = bytes_of(p, a, t, decl.buffers - 1).end;
      EXPECT_LE(end, decl.space == Space::Sbuf ? a.sbuf_bytes : a.psum_bytes);
      aliased += static_cast<int>(a.aliases[t].size());
      // Every overlap is declared.
      for (std::size_t u = 0; u < p.tiles().size(); ++u) {
        const Range x{a.tiles[t].address, end}, y{a.tiles[u].address, bytes_of(p, a, u, p.tiles()[u].buffers - 1).end};
        if (t == u || decl.space != p.tiles()[u].space || !x.overlaps(y)) continue;
        EXPECT_NE(std::ranges::find(a.aliases[t], static_cast<std::int32_t>(u)), a.aliases[t].end()) << "seed " << seed;
      }
    }
    EXPECT_LE(a.sbuf_bytes, machine("trn2").sbuf_bytes_per_partition);
    EXPECT_LE(a.psum_bytes, machine("trn2").psum_bytes_per_partition());
  }
  EXPECT_GT(placed, 100);
  EXPECT_GT(aliased, 0);
}

TEST(Allocate, LoopsSideBySideShareBytes) {
  Builder b("p", machine("trn2"));
  for (const char* name : {"i", "j"}) {
    b.parallel(name, 2, [&](const Affine&) { b.memset(b.sbuf("t", 128, {30000}, F32), 0, Engine::Vector); });
  }
  const Program p = b.finish();
  const Allocation a = allocate(p, machine("trn2"));
  EXPECT_EQ(a.sbuf_bytes, 120000);
  EXPECT_EQ(a.tiles[0].address, a.tiles[1].address);
  EXPECT_EQ(a.aliases[0], std::vector<std::int32_t>{1});
  EXPECT_EQ(a.aliases[1], std::vector<std::int32_t>{0});
}

TEST(Allocate, OneScopeSharesNothingWhileThereIsRoom) {
  Builder b("p", machine("trn2"));
  b.parallel("i", 2, [&](const Affine&) {
    b.memset(b.sbuf("s", 128, {100}, F32, 3), 0, Engine::Vector);
    b.memset(b.sbuf("t", 128, {100}, F32), 0, Engine::Vector);
  });
  const Program p = b.finish();
  const Allocation a = allocate(p, machine("trn2"));
  EXPECT_EQ(a.tiles[0].buffer_stride_bytes, 416);  // 400 bytes rounded up to 32
  EXPECT_EQ(a.sbuf_bytes, 4 * 416);
  EXPECT_TRUE(a.aliases[0].empty());
}

// Two tiles of 120,000 bytes fit only when the second may take the first's bytes: after its last use, and a use in a
// nested loop lasts until that loop ends.
TEST(Allocate, TakesBytesOfTilesWhoseLastUseHasPassed) {
  const auto build = [](bool used_in_nested_loop) {
    Builder b("p", machine("trn2"));
    b.parallel("i", 2, [&](const Affine&) {
      const Access s = b.sbuf("s", 128, {30000}, F32);
      b.memset(s, 0, Engine::Vector);
      b.parallel("j", 2, [&](const Affine&) {
        if (used_in_nested_loop) b.tensor_copy(s, s, Engine::Vector);
        b.memset(b.sbuf("t", 128, {30000}, F32), 0, Engine::Vector);
      });
    });
    return b.finish();
  };
  EXPECT_EQ(allocate(build(false), machine("trn2")).sbuf_bytes, 120000);
  EXPECT_THROW((void)allocate(build(true), machine("trn2")), DeviceError);
}

TEST(Allocate, PsumBuffersRespectBanks) {
  Builder b("p", machine("trn2"));
  b.memset(b.psum("small", 128, {100}, F32, 3), 0, Engine::Vector);  // 400 bytes: four to a bank of 2048
  b.memset(b.psum("large", 128, {768}, F32, 2), 0, Engine::Vector);  // 3072 bytes: two whole banks each
  b.memset(b.psum("whole", 128, {512}, F32, 1), 0, Engine::Vector);
  const Program p = b.finish_unverified();
  const Allocation a = allocate(p, machine("trn2"));
  EXPECT_EQ(a.tiles[0].buffer_stride_bytes, 512);
  EXPECT_EQ(a.tiles[1].buffer_stride_bytes, 4096);
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::int64_t i = 0; i < p.tiles()[t].buffers; ++i) {
      const Range r = bytes_of(p, a, t, i);
      if (r.end - r.begin <= 2048)
        EXPECT_EQ(r.begin / 2048, (r.end - 1) / 2048) << "tile " << t << " straddles a bank";
      else
        EXPECT_EQ(r.begin % 2048, 0);
    }
  }
}

TEST(Allocate, AnOverflowNamesWhatIsLive) {
  Builder b("greedy", machine("trn2"));
  const Access x = b.sbuf("first", 128, {30000}, F32), y = b.sbuf("second", 64, {16000}, F32, 2);
  b.memset(x, 0, Engine::Vector);
  b.tensor_copy(y, x(ds(0, 64), ds(0, 16000)), Engine::Vector);
  b.memset(x, 1, Engine::Vector);
  try {
    (void)allocate(b.finish(), machine("trn2"));
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    const std::string text = e.what();
    EXPECT_EQ(e.check(), "over-capacity");
    for (const char* part : {"'greedy' needs 248000 bytes per partition of SBUF", "trn2 has 212984", "first",
                             "120000 bytes", "second", "128000 bytes", "2 buffers"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    }
  }
}

TEST(Allocate, PsumOverflowsAtEightBanks) {
  const auto build = [](std::int64_t buffers) {
    Builder b("p", machine("trn2"));
    b.memset(b.psum("acc", 128, {512}, F32, buffers), 0, Engine::Vector);
    return b.finish();
  };
  EXPECT_EQ(allocate(build(8), machine("trn2")).psum_bytes, 16384);
  EXPECT_THROW((void)allocate(build(9), machine("trn2")), DeviceError);
}

}  // namespace
}  // namespace trn::tile
