// Placement by lifetime, first fit. Lifetimes are ranges of statement positions. Tiles that share no loop may always share
// bytes. Tiles inside the same loop get bytes of their own while there is room, so that one iteration's loads can run ahead
// of another's stores; when there is not, a tile takes the bytes of one that is out of scope, and at last of one whose last
// use has passed. PSUM buffers no larger than a bank never straddle one; larger ones start at a bank.
#include <trn/tile/allocate.hpp>

#include <algorithm>

#include <trn/core/error.hpp>

namespace trn::tile {

namespace {

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
  for (std::int32_t s = 0; s < size; ++s) {
    while (!open_ends.empty() && open_ends.back() <= s) open_ends.pop_back();
    const Statement& statement = program.statements()[static_cast<std::size_t>(s)];
    const auto index = static_cast<std::size_t>(statement.index);
    switch (statement.kind) {
      case StatementKind::Loop: open_ends.push_back(statement.end); break;
      case StatementKind::Alloc:
        depth[index] = open_ends.size();
        result[index] = {s, s, (open_ends.empty() ? size : open_ends.back()) - 1, (open_ends.empty() ? size : open_ends.front()) - 1};
        break;
      case StatementKind::Instruction:
        for (const Access& access : program.instructions()[index].operands) {
          if (!access.is_tile()) continue;
          const auto tile = static_cast<std::size_t>(access.id);
          const bool nested = open_ends.size() > depth[tile];
          result[tile].last_use = std::max(result[tile].last_use, nested ? open_ends[depth[tile]] - 1 : s);
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
    for (const Statement& statement : program_.statements()) {
      if (statement.kind == StatementKind::Alloc) place(static_cast<std::size_t>(statement.index));
    }
    find_aliases();
    return std::move(result_);
  }

 private:
  std::int64_t end_of(std::size_t tile) const {
    return result_.tiles[tile].address + program_.tiles()[tile].buffers * result_.tiles[tile].buffer_stride_bytes;
  }

  std::int64_t capacity(Space space) const {
    return space == Space::Sbuf ? machine_.sbuf_bytes_per_partition : machine_.psum_bytes_per_partition();
  }

  // Tiles placed earlier whose bytes `tile` avoids.
  std::vector<std::size_t> neighbours(std::size_t tile, Distance distance) const {
    std::vector<std::size_t> found;
    const std::int32_t now = lifetimes_[tile].alloc;
    for (const std::size_t other : placed_) {
      const Lifetime& life = lifetimes_[other];
      const std::int32_t until = distance == Distance::Nest ? life.nest_end : distance == Distance::Scope ? life.scope_end : life.last_use;
      if (program_.tiles()[other].space == program_.tiles()[tile].space && until >= now) found.push_back(other);
    }
    std::ranges::sort(found, {}, [&](std::size_t t) { return result_.tiles[t].address; });
    return found;
  }

  // The lowest address with room, or -1.
  std::int64_t first_fit(const std::vector<std::size_t>& avoid, std::int64_t bytes, std::int64_t align, std::int64_t limit) const {
    std::int64_t address = 0;
    for (const std::size_t other : avoid) {
      if (address + bytes <= result_.tiles[other].address) return address;
      address = std::max(address, round_up(end_of(other), align));
    }
    return address + bytes <= limit ? address : -1;
  }

  void place(std::size_t id) {
    const TileDecl& tile = program_.tiles()[id];
    Placement& placement = result_.tiles[id];
    const std::int64_t bytes = tile.bytes_per_partition(), bank = machine_.psum_bank_bytes;
    std::int64_t stride = round_up(bytes, kAlign), align = kAlign;
    if (tile.space == Space::Psum) {
      // As many buffers to a bank as fit: a power-of-two share of it, or whole banks.
      stride = round_up(bytes, bank);
      for (std::int64_t share = bank; share >= kAlign && bytes <= share; share /= 2) stride = share;
      align = std::min(stride, bank);
    }
    placement.buffer_stride_bytes = stride;
    placement.address = -1;
    for (const Distance distance : {Distance::Nest, Distance::Scope, Distance::Live}) {
      placement.address = first_fit(neighbours(id, distance), tile.buffers * stride, align, capacity(tile.space));
      if (placement.address >= 0) break;
    }
    if (placement.address < 0) overflow(id);
    placed_.push_back(id);
    std::int64_t& peak = tile.space == Space::Sbuf ? result_.sbuf_bytes : result_.psum_bytes;
    peak = std::max(peak, end_of(id));
  }

  [[noreturn]] void overflow(std::size_t id) const {
    const Space space = program_.tiles()[id].space;
    std::vector<std::size_t> live = neighbours(id, Distance::Live);
    live.push_back(id);
    std::string tiles;
    std::int64_t total = 0;
    for (const std::size_t t : live) {
      const TileDecl& tile = program_.tiles()[t];
      const std::int64_t bytes = tile.buffers * result_.tiles[t].buffer_stride_bytes;
      total += bytes;
      tiles += fmt::format("\n  {:<16} {:>8} bytes per partition ({} x {} {}, {} buffer{})", tile.name, bytes,
                           tile.partitions, to_string(tile.free_shape), trn::name(tile.dtype), tile.buffers,
                           tile.buffers == 1 ? "" : "s");
    }
    throw DeviceError(fmt::format("allocate: program '{}' needs {} bytes per partition of {}, {} has {}; use smaller tiles or "
                                  "fewer buffers. Live tiles:{}",
                                  program_.name(), total, space == Space::Sbuf ? "SBUF" : "PSUM", machine_.name, capacity(space), tiles),
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
  std::vector<std::size_t> placed_;
};

}  // namespace

Allocation allocate(const Program& program, const Machine& machine) { return Allocator(program, machine).run(); }

}  // namespace trn::tile
