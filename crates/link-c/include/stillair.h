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
 What a call came to. What is not negative is no mistake.
 */
typedef enum stillair_status {
  /*
   stillair_link_send: the datagram is queued. stillair_link_poll: nothing happened until the given time.
   */
  STILLAIR_OK = 0,
  /*
   stillair_link_send: a datagram of the same queue was dropped for it, perhaps itself (NET_XMIT_CN).
   */
  STILLAIR_CONGESTED = 1,
  /*
   stillair_link_send: the first queue refused it (NET_XMIT_DROP): it is lost.
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
   There is no such endpoint, or the datagram would go where it comes from.
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
   A pointer is null, or an option came too late: the link has been used.
   */
  STILLAIR_INVALID = -7,
} stillair_status;

/*
 How a verdict is written.
 */
typedef enum stillair_form {
  /*
   A table of plain text.
   */
  STILLAIR_TABLE = 0,
  /*
   A table in Markdown.
   */
  STILLAIR_MARKDOWN = 1,
  /*
   JUnit's XML.
   */
  STILLAIR_JUNIT = 2,
  /*
   What was measured, as JSON: a baseline for stillair_budget_judge.
   */
  STILLAIR_BASELINE = 3,
} stillair_form;

/*
 Limits of metrics on paths, read of a file, and what has been measured so far.
 */
typedef struct stillair_budget stillair_budget;

/*
 A path between endpoints, in virtual time.
 */
typedef struct stillair_link stillair_link;

/*
 What arrived at an application: how much, when and how late.
 */
typedef struct stillair_meter stillair_meter;

/*
 What became of a budget.
 */
typedef struct stillair_verdict stillair_verdict;

/*
 A datagram that has arrived.
 */
typedef struct stillair_packet {
  /*
   When it arrived and when it was sent, in nanoseconds since the link began.
   */
  uint64_t at_ns;
  /*
   See there.
   */
  uint64_t sent_ns;
  /*
   Its bytes: the link's until the next call.
   */
  const uint8_t *payload;
  /*
   How many.
   */
  size_t len;
  /*
   Who sent it.
   */
  uint32_t from;
  /*
   Where it arrived.
   */
  uint32_t to;
  /*
   Which of its host's datagrams it is: the first is 1.
   */
  uint32_t number;
  /*
   Ports of sender and receiver.
   */
  uint16_t from_port;
  /*
   See there.
   */
  uint16_t to_port;
  /*
   The two bits of ECN, which queues may have set to 3.
   */
  uint8_t ecn;
  /*
   The six bits of the code point.
   */
  uint8_t dscp;
  /*
   It came with the datagram before, in one aggregate or with one interrupt.
   */
  bool together;
} stillair_packet;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Name of the preset with that number from 0 on; null behind the last.
 */
const char *stillair_preset_name(size_t number);

/*
 A link over a preset, or null and a message of at most error_size bytes in error. stillair_link_free ends it.

 # Safety
 `name` is a string; `error` is null or has room for `error_size` bytes.
 */
struct stillair_link *stillair_link_preset(const char *name, uint64_t seed, char *error, size_t error_size);

/*
 A link over a scenario as TOML; file is its name in messages. Otherwise as stillair_link_preset.

 # Safety
 As of `stillair_link_preset`; `scenario` and `file` are strings.
 */
struct stillair_link *stillair_link_scenario(const char *scenario,
                                             const char *file,
                                             uint64_t seed,
                                             char *error,
                                             size_t error_size);

/*
 Ends a link. Null is none.

 # Safety
 `link` is of this library and has not been ended.
 */
void stillair_link_free(struct stillair_link *link);

/*
 The number of the endpoint of that name; -1 if there is none.

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
 Makes an endpoint one socket: with limit bytes of its packets below it takes no more, and below resume it is told that it may send.
 Before the link is used.

 # Safety
 `link` is null or a link.
 */
enum stillair_status stillair_link_limit(struct stillair_link *link,
                                         uint32_t endpoint,
                                         uint32_t limit,
                                         uint32_t resume);

/*
 Sends a datagram of UDP at now_ns. A payload of null is len bytes of zero.

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
 Goes on until until_ns, or until a datagram arrives before: STILLAIR_PACKET and *packet, whose at_ns is the time then. With
 STILLAIR_OK the time is until_ns, or the end of the link.

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
 Ends a link now. What was seen of it as JSON, which stillair_text_free frees; or null and a message: accounts do not close.

 # Safety
 As of `stillair_link_free`, and of `error` as of `stillair_link_preset`.
 */
char *stillair_link_finish(struct stillair_link *link,
                           char *error,
                           size_t error_size);

/*
 Frees what stillair_link_finish gave. Null is nothing.

 # Safety
 `text` is of this library and has not been freed.
 */
void stillair_text_free(char *text);

/*
 Reads the text of a budget; file is its name in messages. Null and a message of at most error_size bytes if it is wrong.
 stillair_budget_free ends it.

 # Safety
 `budget` and `file` are strings; `error` is null or has room for `error_size` bytes.
 */
struct stillair_budget *stillair_budget_read(const char *budget,
                                             const char *file,
                                             char *error,
                                             size_t error_size);

/*
 Ends a budget. Null is none.

 # Safety
 `budget` is of this library and has not been ended.
 */
void stillair_budget_free(struct stillair_budget *budget);

/*
 How many runs it asks for: each path with each seed.

 # Safety
 `budget` is null or a budget.
 */
size_t stillair_budget_cases(const struct stillair_budget *budget);

/*
 Name of the path of the run with that number from 0 on, and its seed, unless seed is null; null behind the last.

 # Safety
 `budget` is null or a budget; `seed` is null or a place for one.
 */
const char *stillair_budget_path(const struct stillair_budget *budget,
                                 size_t number,
                                 uint64_t *seed);

/*
 A link for the run with that number, as of stillair_link_preset.

 # Safety
 `budget` is null or a budget; `error` is null or has room for `error_size` bytes.
 */
struct stillair_link *stillair_budget_link(const struct stillair_budget *budget,
                                           size_t number,
                                           char *error,
                                           size_t error_size);

/*
 What was measured of a metric in the run with that number. False if there is no such run.

 # Safety
 `budget` is null or a budget; `metric` is null or a string.
 */
bool stillair_budget_measured(struct stillair_budget *budget,
                              size_t number,
                              const char *metric,
                              double value);

/*
 Judges what was measured in all runs, beside a baseline that was kept, or null. Null and a message if a run or a metric is missing, or the
 baseline is none. stillair_verdict_free ends the verdict.

 # Safety
 `budget` is null or a budget; `baseline` is null or a string; `error` is null or has room for `error_size` bytes.
 */
struct stillair_verdict *stillair_budget_judge(const struct stillair_budget *budget,
                                               const char *baseline,
                                               char *error,
                                               size_t error_size);

/*
 Whether no limit is broken: false is a test that fails.

 # Safety
 `verdict` is null or a verdict.
 */
bool stillair_verdict_holds(const struct stillair_verdict *verdict);

/*
 The verdict as text in a stillair_form, its own until it ends; null if there is no such form.

 # Safety
 `verdict` is null or a verdict.
 */
const char *stillair_verdict_text(const struct stillair_verdict *verdict, uint32_t form);

/*
 Ends a verdict. Null is none.

 # Safety
 `verdict` is of this library and has not been ended.
 */
void stillair_verdict_free(struct stillair_verdict *verdict);

/*
 A meter to which nothing has been added. stillair_meter_free ends it.
 */
struct stillair_meter *stillair_meter_new(void);

/*
 Bytes arrived at at_ns, and were sent at sent_ns.

 # Safety
 `meter` is null or a meter.
 */
void stillair_meter_add(struct stillair_meter *meter, uint64_t at_ns, uint64_t sent_ns, uint64_t bytes);

/*
 Goodput from one time to another in Mbit/s.

 # Safety
 `meter` is null or a meter.
 */
double stillair_meter_goodput_mbps(const struct stillair_meter *meter, uint64_t from_ns, uint64_t to_ns);

/*
 A quantile of the delay from one time to another in ms, such as 0.99; not a number if nothing arrived.

 # Safety
 `meter` is null or a meter.
 */
double stillair_meter_delay_ms(const struct stillair_meter *meter,
                               double quantile,
                               uint64_t from_ns,
                               uint64_t to_ns);

/*
 How long the queue stands that a drop of the rate at drop_ns has made, in s: until the end of the last tenth of a second before to_ns in which
 the median delay is above limit_ns or nothing arrives.

 # Safety
 `meter` is null or a meter.
 */
double stillair_meter_recovery_s(const struct stillair_meter *meter,
                                 uint64_t drop_ns,
                                 uint64_t to_ns,
                                 uint64_t limit_ns);

/*
 Ends a meter. Null is none.

 # Safety
 `meter` is of this library and has not been ended.
 */
void stillair_meter_free(struct stillair_meter *meter);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STILLAIR_H */
