// Placement by lifetime: larger tiles first, each at the lowest address where it meets no conflicting tile. Lifetimes
// are ranges of statement positions. Tiles that share no loop may always share bytes. Tiles inside the same loop get
// bytes of their own while there is room, so that one iteration's loads can run ahead of another's stores; when there
// is not, a tile takes the bytes of one that is out of scope, and at last of one whose last use has passed. If even
// that leaves a tile without room, everything is placed again by last use alone, the tightest packing. PSUM buffers no
// larger than a bank never straddle one; larger ones start at a bank.
#include <trn/tile/allocate.hpp>

#include <algorithm>
#include <functional>
#include <optional>

#include <trn/core/error.hpp>

namespace trn::tile {

namespace {

constexpr std::int64_t kRegisterBytes = 4;
constexpr std::int64_t kAlign = 32;  // bytes; keeps every tile aligned for every dtype and DMA-friendly

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

// Positions of statements, both ends included.
struct Lifetime {
  std::int32_t alloc = 0;
  std::int32_t last_use = 0;   // a use inside a nested loop counts until that loop ends
  std::int32_t scope_end = 0;  // end of the body that holds the Alloc
  std::int32_t nest_end = 0;   // end of the outermost loop around it: until then it comes to life again
};

// How far a new tile keeps away from the bytes of earlier ones.
enum class Distance { Nest, Scope, Live };

std::vector<Lifetime> lifetimes(const Program& program) {
  std::vector<Lifetime> result(program.tiles().size());
  std::vector<std::size_t> depth(program.tiles().size(), 0);
  std::vector<std::int32_t> open_ends;  // of the loops around the current statement
  const auto size = static_cast<std::int32_t>(program.statements().size());
  const auto use = [&](std::int32_t id, std::int32_t s) {
    const auto tile = static_cast<std::size_t>(id);
    const bool nested = open_ends.size() > depth[tile];
    result[tile].last_use = std::max(result[tile].last_use, nested ? open_ends[depth[tile]] - 1 : s);
  };
  for (std::int32_t s = 0; s < size; ++s) {
    while (!open_ends.empty() && open_ends.back() <= s) open_ends.pop_back();
    const Statement& statement = program.statements()[static_cast<std::size_t>(s)];
    const auto index = static_cast<std::size_t>(statement.index);
    switch (statement.kind) {
      case StatementKind::Loop:
        open_ends.push_back(statement.end);
        if (const LoopDecl& loop = program.loops()[index]; is_dynamic(loop.kind)) use(loop.bound, s);
        break;
      case StatementKind::Alloc:
        depth[index] = open_ends.size();
        result[index] = {s, s, (open_ends.empty() ? size : open_ends.back()) - 1,
                         (open_ends.empty() ? size : open_ends.front()) - 1};
        break;
      case StatementKind::Instruction:
        for (const Access& access : program.instructions()[index].operands) {
          if (access.is_tile()) use(access.id, s);
        }
        break;
    }
  }
  return result;
}

class Allocator {
 public:
  Allocator(const Program& program, const Machine& machine)
      : program_(program), machine_(machine), lifetimes_(lifetimes(program)) {
    result_.tiles.resize(program.tiles().size());
    result_.aliases.resize(program.tiles().size());
  }

  Allocation run() {
    place_all(Space::Sbuf);
    place_all(Space::Psum);
    place_all(Space::Register);
    find_aliases();
    return std::move(result_);
  }

 private:
  std::int64_t end_of(std::size_t tile) const { return result_.tiles[tile].address + total_bytes(tile); }
  std::int64_t total_bytes(std::size_t tile) const {
    return program_.tiles()[tile].buffers * result_.tiles[tile].buffer_stride_bytes;
  }
  std::int64_t capacity(Space space) const {
    switch (space) {
      case Space::Sbuf:
        return machine_.sbuf_bytes_per_partition;
      case Space::Psum:
        return machine_.psum_bytes_per_partition();
      case Space::Register:
        break;
    }
    return machine_.registers * kRegisterBytes;
  }

  static std::int32_t until(const Lifetime& life, Distance distance) {
    return distance == Distance::Nest ? life.nest_end : distance == Distance::Scope ? life.scope_end : life.last_use;
  }
  bool conflict(std::size_t a, std::size_t b, Distance distance) const {
    return lifetimes_[a].alloc <= until(lifetimes_[b], distance) &&
           lifetimes_[b].alloc <= until(lifetimes_[a], distance);
  }

  // Bytes from one buffer to the next, and what its address must be a multiple of.
  std::pair<std::int64_t, std::int64_t> stride_and_alignment(const TileDecl& tile) const {
    const std::int64_t bytes = tile.bytes_per_partition(), bank = machine_.psum_bank_bytes;
    if (tile.space == Space::Sbuf) return {round_up(bytes, kAlign), kAlign};
    if (tile.space == Space::Register) return {round_up(bytes, kRegisterBytes), kRegisterBytes};
    // As many buffers to a bank as fit: a power-of-two share of it, or whole banks.
    std::int64_t stride = round_up(bytes, bank);
    for (std::int64_t share = bank; share >= kAlign && bytes <= share; share /= 2) stride = share;
    return {stride, std::min(stride, bank)};
  }

  void place_all(Space space) {
    std::vector<std::size_t> order;
    for (const Statement& s : program_.statements()) {
      const auto tile = static_cast<std::size_t>(s.index);
      if (s.kind != StatementKind::Alloc || program_.tiles()[tile].space != space) continue;
      result_.tiles[tile].buffer_stride_bytes = stride_and_alignment(program_.tiles()[tile]).first;
      order.push_back(tile);
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t t) { return total_bytes(t); });
    if (const auto misfit = place(order, {Distance::Nest, Distance::Scope, Distance::Live})) {
      if (place(order, {Distance::Live})) overflow(*misfit, space);
    }
    std::int64_t& peak = space == Space::Sbuf   ? result_.sbuf_bytes
                         : space == Space::Psum ? result_.psum_bytes
                                                : result_.register_bytes;
    for (const std::size_t tile : order) peak = std::max(peak, end_of(tile));
  }

  // Places every tile of `order`, keeping the first distance that leaves room; returns one that found none.
  std::optional<std::size_t> place(const std::vector<std::size_t>& order, std::initializer_list<Distance> distances) {
    for (std::size_t n = 0; n < order.size(); ++n) {
      const std::size_t tile = order[n];
      result_.tiles[tile].address = -1;
      for (const Distance distance : distances) {
        result_.tiles[tile].address =
            first_fit(tile, {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n)}, distance);
        if (result_.tiles[tile].address >= 0) break;
      }
      if (result_.tiles[tile].address < 0) return tile;
    }
    return std::nullopt;
  }

  // The lowest address with room beside the conflicting ones of `placed`, or -1.
  std::int64_t first_fit(std::size_t tile, std::vector<std::size_t> placed, Distance distance) const {
    std::erase_if(placed, [&](std::size_t other) { return !conflict(tile, other, distance); });
    std::ranges::sort(placed, {}, [&](std::size_t t) { return result_.tiles[t].address; });
    const std::int64_t align = stride_and_alignment(program_.tiles()[tile]).second;
    std::int64_t address = 0;
    for (const std::size_t other : placed) {
      if (address + total_bytes(tile) <= result_.tiles[other].address) return address;
      address = std::max(address, round_up(end_of(other), align));
    }
    return address + total_bytes(tile) <= capacity(program_.tiles()[tile].space) ? address : -1;
  }

  // The moment at which the most bytes are live, around the tile that found no room.
  [[noreturn]] void overflow(std::size_t id, Space space) const {
    std::string tiles;
    std::int64_t total = 0;
    for (std::size_t t = 0; t < program_.tiles().size(); ++t) {
      const TileDecl& tile = program_.tiles()[t];
      if (tile.space != space || (t != id && !conflict(t, id, Distance::Live))) continue;
      total += total_bytes(t);
      tiles += fmt::format("\n  {:<16} {:>8} bytes per partition ({} x {} {}, {} buffer{})", tile.name, total_bytes(t),
                           tile.partitions, to_string(tile.free_shape), trn::name(tile.dtype), tile.buffers,
                           tile.buffers == 1 ? "" : "s");
    }
    throw DeviceError(
        fmt::format(
            "allocate: program '{}' needs {} bytes per partition of {}, {} has {}{}; use smaller tiles or fewer "
            "buffers. Live tiles:{}",
            program_.name(), total,
            space == Space::Sbuf   ? "SBUF"
            : space == Space::Psum ? "PSUM"
                                   : "registers",
            machine_.name, capacity(space), total <= capacity(space) ? " but no free piece that is large enough" : "",
            tiles),
        "over-capacity");
  }

  void find_aliases() {
    for (std::size_t a = 0; a < program_.tiles().size(); ++a) {
      for (std::size_t b = a + 1; b < program_.tiles().size(); ++b) {
        if (program_.tiles()[a].space != program_.tiles()[b].space || result_.tiles[a].address >= end_of(b) ||
            result_.tiles[b].address >= end_of(a)) {
          continue;
        }
        result_.aliases[a].push_back(static_cast<std::int32_t>(b));
        result_.aliases[b].push_back(static_cast<std::int32_t>(a));
      }
    }
  }

  const Program& program_;
  const Machine& machine_;
  std::vector<Lifetime> lifetimes_;
  Allocation result_;
};

}  // namespace

Allocation allocate(const Program& program, const Machine& machine) { return Allocator(program, machine).run(); }

}  // namespace trn::tile
