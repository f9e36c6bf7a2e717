/* stillair-link: a Wi-Fi path inside the tests of a transport, in virtual time. Link with -lstillair.
 *
 * Made from crates/link-c/src by `make header`; a test compares. */

#ifndef STILLAIR_H
#define STILLAIR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 Result of a call. Negative values are errors.
 */
typedef enum stillair_status {
  /*
   stillair_link_send: the datagram was queued. stillair_link_poll: nothing happened until the given
   time.
   */
  STILLAIR_OK = 0,
  /*
   stillair_link_send: the queue dropped a datagram to make room, possibly this one (NET_XMIT_CN).
   */
  STILLAIR_CONGESTED = 1,
  /*
   stillair_link_send: the first queue dropped the datagram (NET_XMIT_DROP).
   */
  STILLAIR_DROPPED = 2,
  /*
   stillair_link_poll: a datagram has arrived.
   */
  STILLAIR_PACKET = 3,
  /*
   stillair_link_poll: the endpoint packet->from, whose socket was full, may send again.
   */
  STILLAIR_WRITABLE = 4,
  /*
   The endpoint's socket is full (EAGAIN).
   */
  STILLAIR_FULL = -1,
  /*
   The datagram is longer than the path's MTU allows (EMSGSIZE).
   */
  STILLAIR_TOO_LONG = -2,
  /*
   There is no such endpoint, or source and destination are the same.
   */
  STILLAIR_NO_WAY = -3,
  /*
   ECN is not 0 to 3, or DSCP not 0 to 63.
   */
  STILLAIR_NO_MARK = -4,
  /*
   The time is before the link's current time.
   */
  STILLAIR_BACKWARDS = -5,
  /*
   The link has reached the end of its scenario.
   */
  STILLAIR_ENDED = -6,
  /*
   A pointer is null, or an option is set after the link has been used.
   */
  STILLAIR_INVALID = -7,
} stillair_status;

/*
 Format of a verdict.
 */
typedef enum stillair_form {
  /*
   A table in plain text.
   */
  STILLAIR_TABLE = 0,
  /*
   A table in Markdown.
   */
  STILLAIR_MARKDOWN = 1,
  /*
   JUnit XML.
   */
  STILLAIR_JUNIT = 2,
  /*
   The measured values as JSON: a baseline for stillair_budget_judge.
   */
  STILLAIR_BASELINE = 3,
} stillair_form;

/*
 Limits of metrics on paths, and the values measured so far.
 */
typedef struct stillair_budget stillair_budget;

/*
 A path between endpoints, in virtual time.
 */
typedef struct stillair_link stillair_link;

/*
 Arrivals at an application: bytes, time and delay.
 */
typedef struct stillair_meter stillair_meter;

/*
 The verdict on a budget.
 */
typedef struct stillair_verdict stillair_verdict;

/*
 An arrived datagram.
 */
typedef struct stillair_packet {
  /*
   Time of arrival, in nanoseconds since the start of the link.
   */
  uint64_t at_ns;
  /*
   Time of sending, in nanoseconds since the start of the link.
   */
  uint64_t sent_ns;
  /*
   Payload. The memory belongs to the link and is valid until the next call.
   */
  const uint8_t *payload;
  /*
   Length of the payload in bytes.
   */
  size_t len;
  /*
   Endpoint of the sender.
   */
  uint32_t from;
  /*
   Endpoint of the receiver.
   */
  uint32_t to;
  /*
   Sequence number of the datagram at its sender, starting at 1.
   */
  uint32_t number;
  /*
   Port of the sender.
   */
  uint16_t from_port;
  /*
   Port of the receiver.
   */
  uint16_t to_port;
  /*
   ECN field, 2 bits. A queue may have set it to 3.
   */
  uint8_t ecn;
  /*
   DSCP, 6 bits.
   */
  uint8_t dscp;
  /*
   True if it arrived together with the previous datagram, in one aggregate or with one interrupt.
   */
  bool together;
} stillair_packet;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the name of the preset with this index, starting at 0; null after the last.
 */
const char *stillair_preset_name(size_t number);

/*
 Creates a link over a preset. On error, returns null and writes a message of at most error_size bytes to
 error. Free the link with stillair_link_free.

 # Safety
 `name` must be a null-terminated string; `error` must be null or valid for `error_size` bytes.
 */
struct stillair_link *stillair_link_preset(const char *name, uint64_t seed, char *error, size_t error_size);

/*
 Creates a link over a scenario in TOML; file is its name in messages. Errors are reported as by
 stillair_link_preset.

 # Safety
 As for `stillair_link_preset`; `scenario` and `file` must be null-terminated strings.
 */
struct stillair_link *stillair_link_scenario(const char *scenario,
                                             const char *file,
                                             uint64_t seed,
                                             char *error,
                                             size_t error_size);

/*
 Frees a link. Null is allowed.

 # Safety
 `link` must be null or a link from this library that has not been freed.
 */
void stillair_link_free(struct stillair_link *link);

/*
 Returns the index of the endpoint with this name, or -1 if there is none.

 # Safety
 `link` must be null or a link; `name` must be null or a null-terminated string.
 */
int64_t stillair_link_endpoint(const struct stillair_link *link, const char *name);

/*
 Returns the maximum payload of a datagram, in bytes.

 # Safety
 `link` must be null or a link.
 */
size_t stillair_link_max_payload(const struct stillair_link *link);

/*
 Limits the socket memory of an endpoint. With limit bytes of packets in lower layers, the socket is full
 (STILLAIR_FULL); below resume bytes, it may send again (STILLAIR_WRITABLE). Call this before using the
 link.

 # Safety
 `link` must be null or a link.
 */
enum stillair_status stillair_link_limit(struct stillair_link *link,
                                         uint32_t endpoint,
                                         uint32_t limit,
                                         uint32_t resume);

/*
 Sends a UDP datagram at now_ns. If payload is null, the payload is len zero bytes.

 # Safety
 `link` must be null or a link; `payload` must be null or valid for `len` bytes.
 */
enum stillair_status stillair_link_send(struct stillair_link *link,
                                        uint64_t now_ns,
                                        uint32_t from,
                                        uint16_t from_port,
                                        uint32_t to,
                                        uint16_t to_port,
                                        const uint8_t *payload,
                                        size_t len,
                                        uint8_t ecn,
                                        uint8_t dscp);

/*
 Advances to until_ns, or to an earlier arrival of a datagram. On arrival, returns STILLAIR_PACKET and
 fills *packet; the time is then packet->at_ns. With STILLAIR_OK, the time is until_ns or the end of the
 link.

 # Safety
 `link` must be null or a link; `packet` must be null or valid for writes.
 */
enum stillair_status stillair_link_poll(struct stillair_link *link,
                                        uint64_t until_ns,
                                        struct stillair_packet *packet);

/*
 Returns the link's current time, in nanoseconds since its start.

 # Safety
 `link` must be null or a link.
 */
uint64_t stillair_link_now(const struct stillair_link *link);

/*
 Ends a link, frees it, and returns its statistics as JSON, to be freed with stillair_text_free. If the
 accounts do not balance, returns null and writes a message.

 # Safety
 As for `stillair_link_free`; `error` as for `stillair_link_preset`.
 */
char *stillair_link_finish(struct stillair_link *link, char *error, size_t error_size);

/*
 Frees a text from stillair_link_finish. Null is allowed.

 # Safety
 `text` must be null or a text from this library that has not been freed.
 */
void stillair_text_free(char *text);

/*
 Reads a budget from TOML text; file is its name in messages. On error, returns null and writes a message
 of at most error_size bytes to error. Free the budget with stillair_budget_free.

 # Safety
 `budget` and `file` must be null-terminated strings; `error` must be null or valid for `error_size` bytes.
 */
struct stillair_budget *stillair_budget_read(const char *budget,
                                             const char *file,
                                             char *error,
                                             size_t error_size);

/*
 Frees a budget. Null is allowed.

 # Safety
 `budget` must be null or a budget from this library that has not been freed.
 */
void stillair_budget_free(struct stillair_budget *budget);

/*
 Returns the number of runs: each path with each seed.

 # Safety
 `budget` must be null or a budget.
 */
size_t stillair_budget_cases(const struct stillair_budget *budget);

/*
 Returns the path name of the run with this index, starting at 0, and writes its seed to seed unless that
 is null. Returns null after the last run.

 # Safety
 `budget` must be null or a budget; `seed` must be null or valid for writes.
 */
const char *stillair_budget_path(const struct stillair_budget *budget, size_t number, uint64_t *seed);

/*
 Creates a link for the run with this index, like stillair_link_preset.

 # Safety
 `budget` must be null or a budget; `error` must be null or valid for `error_size` bytes.
 */
struct stillair_link *stillair_budget_link(const struct stillair_budget *budget,
                                           size_t number,
                                           char *error,
                                           size_t error_size);

/*
 Records the value of a metric in the run with this index. Returns false if there is no such run.

 # Safety
 `budget` must be null or a budget; `metric` must be null or a null-terminated string.
 */
bool stillair_budget_measured(struct stillair_budget *budget,
                              size_t number,
                              const char *metric,
                              double value);

/*
 Evaluates the values of all runs, and compares them with an earlier baseline unless that is null. On error
 (a run or a metric is missing, or the baseline is invalid), returns null and writes a message. Free the
 verdict with stillair_verdict_free.

 # Safety
 `budget` must be null or a budget; `baseline` must be null or a null-terminated string; `error` must be
 null or valid for `error_size` bytes.
 */
struct stillair_verdict *stillair_budget_judge(const struct stillair_budget *budget,
                                               const char *baseline,
                                               char *error,
                                               size_t error_size);

/*
 Returns true if no limit is exceeded. If false, the test should fail.

 # Safety
 `verdict` must be null or a verdict.
 */
bool stillair_verdict_holds(const struct stillair_verdict *verdict);

/*
 Returns the verdict as text in a stillair_form, or null if there is no such form. The text belongs to the
 verdict.

 # Safety
 `verdict` must be null or a verdict.
 */
const char *stillair_verdict_text(const struct stillair_verdict *verdict, uint32_t form);

/*
 Frees a verdict. Null is allowed.

 # Safety
 `verdict` must be null or a verdict from this library that has not been freed.
 */
void stillair_verdict_free(struct stillair_verdict *verdict);

/*
 Creates an empty meter. Free it with stillair_meter_free.
 */
struct stillair_meter *stillair_meter_new(void);

/*
 Records bytes that arrived at at_ns and were sent at sent_ns.

 # Safety
 `meter` must be null or a meter.
 */
void stillair_meter_add(struct stillair_meter *meter, uint64_t at_ns, uint64_t sent_ns, uint64_t bytes);

/*
 Returns the goodput between two times in Mbit/s.

 # Safety
 `meter` must be null or a meter.
 */
double stillair_meter_goodput_mbps(const struct stillair_meter *meter, uint64_t from_ns, uint64_t to_ns);

/*
 Returns a quantile (such as 0.99) of the delay between two times in ms; NaN if nothing arrived.

 # Safety
 `meter` must be null or a meter.
 */
double stillair_meter_delay_ms(const struct stillair_meter *meter,
                               double quantile,
                               uint64_t from_ns,
                               uint64_t to_ns);

/*
 Returns how long the queue caused by a link rate drop at drop_ns lasts, in s: until the end of the last
 0.1 s before to_ns in which the median delay exceeds limit_ns or nothing arrives.

 # Safety
 `meter` must be null or a meter.
 */
double stillair_meter_recovery_s(const struct stillair_meter *meter,
                                 uint64_t drop_ns,
                                 uint64_t to_ns,
                                 uint64_t limit_ns);

/*
 Frees a meter. Null is allowed.

 # Safety
 `meter` must be null or a meter from this library that has not been freed.
 */
void stillair_meter_free(struct stillair_meter *meter);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STILLAIR_H */
