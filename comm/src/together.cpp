// What one rank could not do, all ranks throw: see together.hpp.
#include <trn/comm/together.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace trn::comm::detail {
namespace {

enum class Kind : std::uint8_t { None, InvalidArgument, NotImplemented, DeviceError, InternalError, Other };

// An error as bytes: kind, recovery, length of the check's name, the name, the message.
struct Record {
  Kind kind = Kind::None;
  Recovery recovery = Recovery::Retry;
  std::string check, message;
};

Record record_of(const std::exception_ptr& error) {
  if (!error) return {};
  try {
    std::rethrow_exception(error);
  } catch (const CommError&) {
    throw;  // the group is at its end already
  } catch (const InvalidArgument& e) {
    return {Kind::InvalidArgument, {}, "", e.what()};
  } catch (const NotImplemented& e) {
    return {Kind::NotImplemented, {}, "", e.what()};
  } catch (const DeviceError& e) {
    return {Kind::DeviceError, e.recovery(), e.check(), e.what()};
  } catch (const InternalError& e) {
    return {Kind::InternalError, {}, "", e.what()};
  } catch (const std::exception& e) {
    return {Kind::Other, {}, "", e.what()};
  } catch (...) {
    return {Kind::Other, {}, "", "an exception that is not a std::exception"};
  }
}

[[noreturn]] void throw_record(const Record& record, int rank) {
  const std::string text = fmt::format("rank {}: {}", rank, record.message);
  switch (record.kind) {
    case Kind::InvalidArgument:
      throw InvalidArgument(text);
    case Kind::NotImplemented:
      throw NotImplemented(text);
    case Kind::DeviceError:
      throw DeviceError(text, record.check, record.recovery);
    case Kind::InternalError:
      throw InternalError(text);
    default:
      throw Error(text);
  }
}

}  // namespace

void agree(const Communicator& group, const std::exception_ptr& mine) {
  const Record record = record_of(mine);
  const auto failed = static_cast<std::uint8_t>(mine ? 1 : 0);
  std::vector<std::uint8_t> all(static_cast<std::size_t>(group.size()));
  group.transport().all_gather(&failed, 1, all.data());
  const auto first = std::find(all.begin(), all.end(), 1);
  if (first == all.end()) return;
  const auto rank = static_cast<int>(first - all.begin());
  std::int64_t head[] = {static_cast<std::int64_t>(record.kind), static_cast<std::int64_t>(record.recovery),
                         static_cast<std::int64_t>(record.check.size()),
                         static_cast<std::int64_t>(record.message.size())};
  group.transport().broadcast(rank, head, sizeof head);
  std::string text = record.check + record.message;
  text.resize(static_cast<std::size_t>(head[2] + head[3]));
  group.transport().broadcast(rank, text.data(), static_cast<std::int64_t>(text.size()));
  throw_record({static_cast<Kind>(head[0]), static_cast<Recovery>(head[1]),
                text.substr(0, static_cast<std::size_t>(head[2])), text.substr(static_cast<std::size_t>(head[2]))},
               rank);
}

}  // namespace trn::comm::detail
