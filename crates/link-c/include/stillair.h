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
 The result of a call. Negative values are errors.
 */
typedef enum stillair_status {
  /*
   stillair_link_send: the datagram is queued. stillair_link_poll: nothing happened until the given time.
   */
  STILLAIR_OK = 0,
  /*
   stillair_link_send: the queue dropped a datagram because of it, perhaps this one (NET_XMIT_CN).
   */
  STILLAIR_CONGESTED = 1,
  /*
   stillair_link_send: the first queue refused the datagram (NET_XMIT_DROP); it is lost.
   */
  STILLAIR_DROPPED = 2,
  /*
   stillair_link_poll: a datagram has arrived.
   */
  STILLAIR_PACKET = 3,
  /*
   stillair_link_poll: an endpoint whose socket was full may send again: packet->from.
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
   The time is before the link's.
   */
  STILLAIR_BACKWARDS = -5,
  /*
   The link has ended with its scenario.
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
 A datagram that has arrived.
 */
typedef struct stillair_packet {
  /*
   When it arrived, in nanoseconds since the link began.
   */
  uint64_t at_ns;
  /*
   When it was sent, in nanoseconds since the link began.
   */
  uint64_t sent_ns;
  /*
   Its payload. The memory belongs to the link and is valid until the next call.
   */
  const uint8_t *payload;
  /*
   Bytes of payload.
   */
  size_t len;
  /*
   Endpoint of the sender.
   */
  uint32_t from;
  /*
   Endpoint at which it arrived.
   */
  uint32_t to;
  /*
   Sequence number of the datagram at its host: the first is 1.
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
   ECN, 2 bits; a queue may have set it to 3.
   */
  uint8_t ecn;
  /*
   DSCP, 6 bits.
   */
  uint8_t dscp;
  /*
   It arrived together with the previous datagram, in one aggregate or with one interrupt.
   */
  bool together;
} stillair_packet;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Name of the preset with this index, counted from 0; null after the last.
 */
const char *stillair_preset_name(size_t number);

/*
 A link over a preset. On error null, with a message of at most error_size bytes in error. Free it with
 stillair_link_free.

 # Safety
 `name` is a string; `error` is null or has room for `error_size` bytes.
 */
struct stillair_link *stillair_link_preset(const char *name, uint64_t seed, char *error, size_t error_size);

/*
 A link over a scenario in TOML; file is its name in messages. Otherwise as stillair_link_preset.

 # Safety
 As of `stillair_link_preset`; `scenario` and `file` are strings.
 */
struct stillair_link *stillair_link_scenario(const char *scenario,
                                             const char *file,
                                             uint64_t seed,
                                             char *error,
                                             size_t error_size);

/*
 Frees a link. Null is allowed.

 # Safety
 `link` is of this library and has not been ended.
 */
void stillair_link_free(struct stillair_link *link);

/*
 The index of the endpoint with this name; -1 if there is none.

 # Safety
 `link` is null or a link; `name` is null or a string.
 */
int64_t stillair_link_endpoint(const struct stillair_link *link, const char *name);

/*
 The largest payload of a datagram, in bytes.

 # Safety
 `link` is null or a link.
 */
size_t stillair_link_max_payload(const struct stillair_link *link);

/*
 Gives an endpoint one socket with limited memory. With limit bytes of packets below it, it refuses
 datagrams (STILLAIR_FULL); below resume bytes it may send again (STILLAIR_WRITABLE). Call it before the
 link is used.

 # Safety
 `link` is null or a link.
 */
enum stillair_status stillair_link_limit(struct stillair_link *link,
                                         uint32_t endpoint,
                                         uint32_t limit,
                                         uint32_t resume);

/*
 Sends a UDP datagram at now_ns. If payload is null, len zero bytes are sent.

 # Safety
 `link` is null or a link; `payload` is null or has `len` bytes.
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
 Advances to until_ns, or to the arrival of a datagram if that is earlier: then it returns STILLAIR_PACKET
 and fills *packet, and the time is packet->at_ns. With STILLAIR_OK the time is until_ns, or the end of the
 link.

 # Safety
 `link` is null or a link; `packet` is null or a place for one.
 */
enum stillair_status stillair_link_poll(struct stillair_link *link,
                                        uint64_t until_ns,
                                        struct stillair_packet *packet);

/*
 The link's time, in nanoseconds since it began.

 # Safety
 `link` is null or a link.
 */
uint64_t stillair_link_now(const struct stillair_link *link);

/*
 Ends a link and returns its statistics as JSON, to be freed with stillair_text_free. Null and a message if
 accounts do not close.

 # Safety
 As of `stillair_link_free`, and of `error` as of `stillair_link_preset`.
 */
char *stillair_link_finish(struct stillair_link *link, char *error, size_t error_size);

/*
 Frees a text from stillair_link_finish. Null is allowed.

 # Safety
 `text` is of this library and has not been freed.
 */
void stillair_text_free(char *text);

/*
 Reads a budget from TOML text; file is its name in messages. If it is wrong, returns null, with a message
 of at most error_size bytes. Free it with stillair_budget_free.

 # Safety
 `budget` and `file` are strings; `error` is null or has room for `error_size` bytes.
 */
struct stillair_budget *stillair_budget_read(const char *budget,
                                             const char *file,
                                             char *error,
                                             size_t error_size);

/*
 Frees a budget. Null is allowed.

 # Safety
 `budget` is of this library and has not been ended.
 */
void stillair_budget_free(struct stillair_budget *budget);

/*
 Number of runs: each path with each seed.

 # Safety
 `budget` is null or a budget.
 */
size_t stillair_budget_cases(const struct stillair_budget *budget);

/*
 Name of the path of the run with this index, counted from 0, and its seed unless seed is null. Null after
 the last run.

 # Safety
 `budget` is null or a budget; `seed` is null or a place for one.
 */
const char *stillair_budget_path(const struct stillair_budget *budget, size_t number, uint64_t *seed);

/*
 A link for the run with this index, as from stillair_link_preset.

 # Safety
 `budget` is null or a budget; `error` is null or has room for `error_size` bytes.
 */
struct stillair_link *stillair_budget_link(const struct stillair_budget *budget,
                                           size_t number,
                                           char *error,
                                           size_t error_size);

/*
 Records the value of a metric in the run with this index. False if there is no such run.

 # Safety
 `budget` is null or a budget; `metric` is null or a string.
 */
bool stillair_budget_measured(struct stillair_budget *budget,
                              size_t number,
                              const char *metric,
                              double value);

/*
 Judges the values of all runs, compared with an earlier baseline, which may be null. Returns null and a
 message if a run or a metric is missing, or the baseline is not valid. Free the verdict with
 stillair_verdict_free.

 # Safety
 `budget` is null or a budget; `baseline` is null or a string; `error` is null or has room for `error_size`
 bytes.
 */
struct stillair_verdict *stillair_budget_judge(const struct stillair_budget *budget,
                                               const char *baseline,
                                               char *error,
                                               size_t error_size);

/*
 Whether no limit is broken. If false, the test should fail.

 # Safety
 `verdict` is null or a verdict.
 */
bool stillair_verdict_holds(const struct stillair_verdict *verdict);

/*
 The verdict as text in a stillair_form. The text belongs to the verdict. Null if there is no such form.

 # Safety
 `verdict` is null or a verdict.
 */
const char *stillair_verdict_text(const struct stillair_verdict *verdict, uint32_t form);

/*
 Frees a verdict. Null is allowed.

 # Safety
 `verdict` is of this library and has not been ended.
 */
void stillair_verdict_free(struct stillair_verdict *verdict);

/*
 A new, empty meter. Free it with stillair_meter_free.
 */
struct stillair_meter *stillair_meter_new(void);

/*
 Records bytes that arrived at at_ns and were sent at sent_ns.

 # Safety
 `meter` is null or a meter.
 */
void stillair_meter_add(struct stillair_meter *meter, uint64_t at_ns, uint64_t sent_ns, uint64_t bytes);

/*
 Goodput between two times in Mbit/s.

 # Safety
 `meter` is null or a meter.
 */
double stillair_meter_goodput_mbps(const struct stillair_meter *meter, uint64_t from_ns, uint64_t to_ns);

/*
 A quantile of the delay between two times in ms, such as 0.99; NaN if nothing arrived.

 # Safety
 `meter` is null or a meter.
 */
double stillair_meter_delay_ms(const struct stillair_meter *meter,
                               double quantile,
                               uint64_t from_ns,
                               uint64_t to_ns);

/*
 How long the queue lasts that a drop of the link rate at drop_ns has caused, in s: until the end of the
 last 0.1 s before to_ns in which the median delay is above limit_ns or nothing arrives.

 # Safety
 `meter` is null or a meter.
 */
double stillair_meter_recovery_s(const struct stillair_meter *meter,
                                 uint64_t drop_ns,
                                 uint64_t to_ns,
                                 uint64_t limit_ns);

/*
 Frees a meter. Null is allowed.

 # Safety
 `meter` is of this library and has not been ended.
 */
void stillair_meter_free(struct stillair_meter *meter);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STILLAIR_H */
