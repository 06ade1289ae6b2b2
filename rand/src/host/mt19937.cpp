// Mt19937 on the host: the states of the 8192 twisters, and a draw by teams of twisters.
//
// To find the states of a team is dear, a jump of some 50 us each, so the last draw's states are kept: one table for
// the process, of the seed and the group of 78 rows it stands at. It is a memory of a pure function; results do not
// depend on it.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include <trn/core/parallel.hpp>

#include "host/mt19937.hpp"
#include "host/sources.hpp"
#include "host/steps.hpp"

namespace trn::rand::host {

namespace {

using namespace mt19937;

constexpr std::uint64_t kTeam = kTwisterTeam, kTeams = kTwisters / kTeam;  // twisters that one task handles, and tasks
constexpr int kApart = 2048;                                               // log2 of the steps between twisters

// kOrder[row][lane]: which of a group's 624 outputs stands there. Seven rows take 56 consecutive outputs, seven for
// each lane; eight of these eleven sevens are preceded by one output for row 0.
constexpr std::array<std::array<std::uint16_t, kLanes>, kGroupRows> order() {
  std::array<std::array<std::uint16_t, kLanes>, kGroupRows> to{};
  constexpr std::uint16_t kFirst[kLanes] = {0, 113, 170, 283, 340, 397, 510, 567};
  std::uint16_t next = 0;
  std::size_t lane0 = 0;
  for (std::size_t row = 1; row < kGroupRows; row += 7) {
    if (lane0 < kLanes && next == kFirst[lane0]) to[0][lane0++] = next++;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      for (std::size_t k = 0; k < 7; ++k) to[row + k][lane] = next++;
    }
  }
  return to;
}
constexpr auto kOrder = order();
static_assert(kOrder[0][7] == 567 && kOrder[1][1] == 8 && kOrder[77][7] == 623);

// The words of one group of rows; a team that is not there yet is null.
struct Table {
  std::uint32_t seed = 0;
  std::uint64_t group = 0;
  bool complete = false;  // every team is there, put by the draw that made the table
  Words first;            // twister 0, before the group
  std::once_flag heads_once;
  std::array<Words, kTeams> heads;  // the first twister of every team, before the group
  std::array<std::once_flag, kTeams> once;
  std::array<std::unique_ptr<TwisterTeam>, kTeams> teams;
};

const Polynomial& between_twisters() {
  static const Polynomial p = power_of_two(kApart);
  return p;
}

const TwisterTeam& team_of(Table& table, std::uint64_t t) {
  if (table.complete) return *table.teams[t];
  std::call_once(table.heads_once, [&] {
    static const Polynomial between_teams = [] {
      Polynomial p = between_twisters();
      for (std::uint64_t k = 1; k < kTeam; k *= 2) p = multiply(p, p);
      return p;
    }();
    table.heads[0] = table.first;
    for (std::size_t k = 1; k < kTeams; ++k) table.heads[k] = jump(table.heads[k - 1], between_teams);
  });
  std::call_once(table.once[t], [&] {
    auto team = std::make_unique<TwisterTeam>();
    Words state = table.heads[t];
    for (std::size_t g = 0; g < kTeam; ++g) {
      if (g > 0) state = jump(state, between_twisters());
      for (std::size_t k = 0; k < kWords; ++k) team->words[k][g] = state[k];
    }
    host::twist(*team);
    table.teams[t] = std::move(team);
  });
  return *table.teams[t];
}

std::shared_ptr<Table> make_table(std::uint32_t seed, std::uint64_t group) {
  auto table = std::make_shared<Table>();
  table->seed = seed;
  table->group = group;
  table->first = group == 0 ? seeded(seed) : jump(seeded(seed), power(group * kWords));
  return table;
}

std::mutex memory_guard;
std::shared_ptr<Table> memory;

std::shared_ptr<Table> table_of(std::uint32_t seed, std::uint64_t group) {
  const std::lock_guard lock(memory_guard);
  if (!memory || memory->seed != seed || memory->group != group) memory = make_table(seed, group);
  return memory;
}

// The draw's words first .. last, as rows of 65536; `out` is where word `first` goes, elements of `size` bytes.
struct Target {
  std::uint64_t first, last;  // inclusive: the last word of all is number 2^64 - 1
  Draw draw;
  std::byte* out;
};

// words[0 .. n - 1] are the words at .. at + n - 1 of the generator; those inside the draw go out.
void put(const Target& to, std::uint64_t at, const std::uint32_t* words, std::uint64_t n) {
  const std::uint64_t begin = std::max(at, to.first), last = std::min(at + (n - 1), to.last);
  if (begin > last) return;
  const auto count = static_cast<std::int64_t>(last - begin + 1);
  if (to.draw == Draw::OpenClosedDouble) {
    doubles_from_words(count, words + (begin - at), 0x1p-33, reinterpret_cast<double*>(to.out) + (begin - to.first));
    return;
  }
  if (to.draw == Draw::OpenClosed) {
    return floats_rounded_once(count, words + (begin - at), reinterpret_cast<float*>(to.out) + (begin - to.first));
  }
  std::byte* here = to.out + (begin - to.first) * sizeof(std::uint32_t);
  std::memcpy(here, words + (begin - at), static_cast<std::size_t>(count) * sizeof(std::uint32_t));
  convert_words(to.draw, count, here);
}

// What one team has of the rows of one group.
void put_group(const TwisterTeam& team, std::uint64_t t, std::uint64_t group, const Target& to) {
  alignas(64) std::uint32_t line[kTeam * kLanes];
  const std::uint64_t column = t * std::size(line);
  for (std::uint64_t row = 0; row < kGroupRows; ++row) {
    const std::uint64_t at = (group * kGroupRows + row) * kRowWords + column;
    if (at + (std::size(line) - 1) < to.first || at > to.last) continue;
    tempered_row(team, kOrder[row].data(), line);
    put(to, at, line, std::size(line));
  }
}

}  // namespace

void fill_mt19937(const State& state, Draw draw, std::int64_t n, void* out) {
  const auto seed = static_cast<std::uint32_t>(state.seed);
  constexpr std::uint64_t kGroupWords = kGroupRows * kRowWords;
  const std::uint64_t first = state.position, last_word = first + (static_cast<std::uint64_t>(n) - 1);
  const std::uint64_t group = first / kGroupWords, last = last_word / kGroupWords;
  const std::shared_ptr<Table> table = table_of(seed, group);
  constexpr std::uint64_t kSpan = kTeam * kLanes;  // of a row, that a team makes
  const std::uint64_t begin_team = first % kRowWords / kSpan;
  const std::uint64_t spans = (first % kSpan + static_cast<std::uint64_t>(n) - 1) / kSpan + 1;
  const std::uint64_t teams = std::min(spans, kTeams);
  std::shared_ptr<Table> next;
  if (last != group) {
    next = std::make_shared<Table>();
    next->seed = seed;
    next->group = last;
    next->complete = true;
  }
  const Target to{first, last_word, draw, static_cast<std::byte*>(out)};
  const auto make_team = [&](std::int64_t k, int) {
    const std::uint64_t t = (begin_team + static_cast<std::uint64_t>(k)) % kTeams;
    const TwisterTeam& here = team_of(*table, t);
    put_group(here, t, group, to);
    if (!next) return;
    auto team = std::make_unique<TwisterTeam>(here);
    for (std::uint64_t later = group; later < last; ++later) {
      host::twist(*team);
      put_group(*team, t, later + 1, to);
    }
    next->teams[t] = std::move(team);
  };
  trn::for_pieces(static_cast<std::int64_t>(teams), loop_threads(teams > 1), make_team);
  if (next && teams == kTeams) {
    const std::lock_guard lock(memory_guard);
    memory = next;
  }
}

}  // namespace trn::rand::host
