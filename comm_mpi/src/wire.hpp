// Wire: messages of one group, sent and received without blocking and waited for with a clock. Received lengths are
// compared with those expected: MPI itself takes a short message for a whole one.
//
// When nothing has arrived within the limit, the rank prints where it waits, asks all others to do so, names those
// that do not answer, and ends the job. Questions travel on a communicator of the whole job, so that ranks that wait in
// other groups answer too.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace trn::comm::detail {

// A communicator that is freed with its last user.
class MpiHandle {
 public:
  explicit MpiHandle(MPI_Comm comm) : comm_(comm) {}
  ~MpiHandle();
  MpiHandle(const MpiHandle&) = delete;
  MpiHandle& operator=(const MpiHandle&) = delete;
  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_;
};

// Throws CommError that names the call and MPI's own text, unless it succeeded.
void require_success(int error, const char* call);

// One for each kind of call: two kinds in different order wait for each other and do not take each other's data.
enum Tag : int { kCheckTag = 1, kBroadcastTag, kGatherTag, kExchangeTag, kPairTag, kQuestionTag, kAnswerTag };

class Wire {
 public:
  Wire(std::shared_ptr<MpiHandle> group, std::shared_ptr<MpiHandle> job, double limit_seconds);

  [[nodiscard]] MPI_Comm comm() const { return group_->get(); }
  [[nodiscard]] const std::shared_ptr<MpiHandle>& job() const { return job_; }
  [[nodiscard]] double limit() const { return limit_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  // Start a message. At most 2^31 - 1 bytes.
  void send(int to, Tag tag, const void* data, std::int64_t bytes);
  void receive(int from, Tag tag, void* data, std::int64_t bytes);
  // Until all messages that were started are through. After a CommError nothing is in flight any more.
  void wait();

 private:
  struct Receipt {
    std::int64_t bytes;
    int from;  // -1: what was sent
  };
  void wait_for_all();
  void abandon();
  void accept(const Receipt& receipt, MPI_Status& status) const;
  void answer_questions() const;
  void say_where(double seconds) const;
  [[noreturn]] void give_up(double seconds) const;

  std::shared_ptr<MpiHandle> group_, job_;
  double limit_;
  int rank_ = 0, size_ = 1;
  std::int64_t bytes_in_flight_ = 0;
  std::vector<MPI_Request> requests_;
  std::vector<Receipt> receipts_;  // of requests_
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace trn::comm::detail
