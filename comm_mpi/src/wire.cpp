// Messages and how they are waited for.
#include "wire.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>

#include <sched.h>

#include <trn/comm/error.hpp>

#include "position.hpp"

namespace trn::comm::detail {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr double kAnswerSeconds = 1.0;  // for the answers of the others before the job is ended
constexpr double kFirstLook = 0.1;      // seconds of waiting before questions are looked for
// Waiting for short messages beyond this leaves the processor to others. Long ones are moved by the waiting itself:
// they get as much more as 200 MB/s take.
constexpr double kSpinSeconds = 0.001, kSlowRate = 2e8;

// A rank says once where it waits. Who was asked leaves the end to the one that asked.
double extra_seconds = 0;

}  // namespace

MpiHandle::~MpiHandle() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Comm_free(&comm_);
}

void require_success(int error, const char* call) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  throw CommError(fmt::format("{}: {}", call, std::string_view(text, static_cast<std::size_t>(length))), -1);
}

Wire::Wire(std::shared_ptr<MpiHandle> group, std::shared_ptr<MpiHandle> job, double limit_seconds)
    : group_(std::move(group)), job_(std::move(job)), limit_(limit_seconds) {
  MPI_Comm_rank(comm(), &rank_);
  MPI_Comm_size(comm(), &size_);
  MPI_Comm_set_errhandler(comm(), MPI_ERRORS_RETURN);
}

void Wire::send(int to, Tag tag, const void* data, std::int64_t bytes) {
  requests_.push_back(MPI_REQUEST_NULL);
  receipts_.push_back({bytes, -1});
  bytes_in_flight_ += bytes;
  require_success(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm(), &requests_.back()), "MPI_Isend");
}

void Wire::receive(int from, Tag tag, void* data, std::int64_t bytes) {
  requests_.push_back(MPI_REQUEST_NULL);
  receipts_.push_back({bytes, from});
  bytes_in_flight_ += bytes;
  require_success(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, comm(), &requests_.back()),
                  "MPI_Irecv");
}

void Wire::accept(const Receipt& receipt, MPI_Status& status) const {
  if (receipt.from < 0) return;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  if (bytes == receipt.bytes) return;
  throw CommError(
      fmt::format("rank {} expects {} bytes of rank {} and gets {}", rank_, receipt.bytes, receipt.from, bytes),
      receipt.from);
}

void Wire::wait() {
  position().waiting = 1;
  try {
    wait_for_all();
  } catch (...) {
    abandon();
    throw;
  }
  position().waiting = 0;
  requests_.clear();
  receipts_.clear();
  bytes_in_flight_ = 0;
}

// Buffers end with the caller: nothing may arrive in them later.
void Wire::abandon() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (receipts_[i].from >= 0) MPI_Cancel(&requests_[i]);
    MPI_Request_free(&requests_[i]);
  }
  requests_.clear();
  receipts_.clear();
  bytes_in_flight_ = 0;
  position().waiting = 0;
}

void Wire::wait_for_all() {
  const int count = static_cast<int>(requests_.size());
  done_.resize(requests_.size());
  statuses_.resize(requests_.size());
  const double spin = kSpinSeconds + static_cast<double>(bytes_in_flight_) / kSlowRate;
  int left = count;
  Clock::time_point start = Clock::now();
  double next_look = kFirstLook;
  for (unsigned turn = 0; left > 0; ++turn) {
    int completed = 0;
    const int error = MPI_Testsome(count, requests_.data(), &completed, done_.data(), statuses_.data());
    if (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS) require_success(error, "MPI_Testsome");
    if (completed == MPI_UNDEFINED) break;
    for (int i = 0; i < completed; ++i) {
      MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
      const Receipt& receipt = receipts_[static_cast<std::size_t>(done_[static_cast<std::size_t>(i)])];
      if (error == MPI_ERR_IN_STATUS) require_success(status.MPI_ERROR, receipt.from < 0 ? "a send" : "a receive");
      accept(receipt, status);
    }
    left -= completed;
    if (completed > 0) {
      start = Clock::now();
      next_look = kFirstLook;
      continue;
    }
    if (turn % 16 != 15) continue;
    ::sched_yield();
    const double waited = seconds_since(start);
    if (waited > spin) std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (waited > next_look) {
      next_look = waited + kFirstLook;
      answer_questions();
      if (waited > limit_ + extra_seconds) give_up(waited);
    }
  }
}

void Wire::say_where(double seconds) const {
  Position& where = position();
  if (where.said != 0) return;
  where.said = 1;
  Line line;
  line.rank(where) << " waits";
  if (seconds > 0) line << " for " << static_cast<std::int64_t>(seconds) << " s";
  (line << " in ").operation(where).print();
}

void Wire::answer_questions() const {
  while (true) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kQuestionTag, job_->get(), &there, &status);
    if (there == 0) return;
    MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kQuestionTag, job_->get(), MPI_STATUS_IGNORE);
    say_where(0);
    extra_seconds = 3 * kAnswerSeconds;
    MPI_Request answer = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kAnswerTag, job_->get(), &answer);
    MPI_Request_free(&answer);
  }
}

void Wire::give_up(double seconds) const {
  say_where(seconds);
  int me = 0, ranks = 1;
  MPI_Comm_rank(job_->get(), &me);
  MPI_Comm_size(job_->get(), &ranks);
  std::vector<char> answered(static_cast<std::size_t>(ranks), 0);
  answered[static_cast<std::size_t>(me)] = 1;
  for (int r = 0; r < ranks; ++r) {
    if (r == me) continue;
    MPI_Request question = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_BYTE, r, kQuestionTag, job_->get(), &question);
    MPI_Request_free(&question);
  }
  const Clock::time_point start = Clock::now();
  for (int missing = ranks - 1; missing > 0 && seconds_since(start) < kAnswerSeconds;) {
    answer_questions();
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kAnswerTag, job_->get(), &there, &status);
    if (there == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kAnswerTag, job_->get(), MPI_STATUS_IGNORE);
    answered[static_cast<std::size_t>(status.MPI_SOURCE)] = 1;
    --missing;
  }
  for (int r = 0; r < ranks; ++r) {
    if (answered[static_cast<std::size_t>(r)] != 0) continue;
    (Line() << "rank " << r << " of " << ranks << " does not answer: it computes, is stopped or is gone").print();
  }
  (Line() << "the job is ended after " << static_cast<std::int64_t>(limit_) << " s (TRN_COMM_TIMEOUT)").print();
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

}  // namespace trn::comm::detail
