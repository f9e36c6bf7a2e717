/* The example from the crate documentation, and invalid calls. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stillair.h"

static void example(void) {
  char error[200];
  stillair_link *link = stillair_link_preset("home-80211ac-far", 1, error, sizeof error);
  uint32_t client = (uint32_t)stillair_link_endpoint(link, "client");
  uint32_t server = (uint32_t)stillair_link_endpoint(link, "server");
  stillair_packet packet;
  stillair_link_send(link, 5000000, client, 50000, server, 443, (const uint8_t *)"hello", 5, 2, 0);
  assert(stillair_link_poll(link, 1000000000, &packet) == STILLAIR_PACKET);
  assert(packet.to == server && packet.len == 5 && memcmp(packet.payload, "hello", 5) == 0);
  assert(packet.at_ns - packet.sent_ns > 1000000 && packet.at_ns - packet.sent_ns < 100000000);
  printf("%llu\n", (unsigned long long)packet.at_ns);
  char *seen = stillair_link_finish(link, error, sizeof error);
  assert(strstr(seen, "\"client\":{\"from\":{\"packets\":1,"));
  stillair_text_free(seen);
}

static void mistakes(void) {
  char error[64];
  stillair_packet packet;
  assert(stillair_link_preset("home", 1, error, sizeof error) == NULL && strstr(error, "home"));
  assert(strlen(error) == sizeof error - 1); /* truncated and null-terminated */
  assert(stillair_link_preset(NULL, 1, NULL, 0) == NULL);
  assert(stillair_link_scenario("duration = 5", "x.toml", 1, error, sizeof error) == NULL);
  assert(strstr(error, "x.toml:1: "));
  assert(stillair_link_send(NULL, 0, 0, 0, 1, 0, NULL, 0, 0, 0) == STILLAIR_INVALID);
  assert(stillair_link_poll(NULL, 0, &packet) == STILLAIR_INVALID && stillair_link_now(NULL) == 0);
  assert(stillair_link_finish(NULL, error, sizeof error) == NULL && strcmp(error, "no link") == 0);
  stillair_link_free(NULL);
  stillair_text_free(NULL);

  stillair_link *link = stillair_link_preset("vdsl-40-10", 1, error, sizeof error);
  assert(link && stillair_link_endpoint(link, "nobody") == -1 && stillair_link_max_payload(link) == 1472);
  assert(stillair_link_limit(link, 9, 1, 1) == STILLAIR_INVALID);
  assert(stillair_link_limit(link, 1, 4608, 4608) == STILLAIR_OK);
  uint8_t bytes[1472] = {0};
  assert(stillair_link_send(link, 5, 1, 1, 0, 2, bytes, 1472, 0, 0) == STILLAIR_OK);
  assert(stillair_link_send(link, 5, 1, 1, 0, 2, bytes, SIZE_MAX, 0, 0) == STILLAIR_TOO_LONG);
  assert(stillair_link_send(link, 5, 1, 1, 0, 2, NULL, SIZE_MAX, 0, 0) == STILLAIR_TOO_LONG);
  assert(stillair_link_send(link, 5, 1, 1, 1, 2, bytes, 1, 0, 0) == STILLAIR_NO_WAY);
  assert(stillair_link_send(link, 5, 1, 1, 0, 2, bytes, 1, 4, 0) == STILLAIR_NO_MARK);
  assert(stillair_link_send(link, 4, 1, 1, 0, 2, bytes, 1, 0, 0) == STILLAIR_BACKWARDS);
  assert(stillair_link_send(link, UINT64_MAX, 1, 1, 0, 2, bytes, 1, 0, 0) == STILLAIR_ENDED);
  assert(stillair_link_limit(link, 1, 9, 9) == STILLAIR_INVALID);
  while (stillair_link_send(link, 5, 1, 1, 0, 2, bytes, 1472, 0, 0) == STILLAIR_OK) {}
  assert(stillair_link_send(link, 5, 1, 1, 0, 2, bytes, 1472, 0, 0) == STILLAIR_FULL);
  int writable = 0, packets = 0;
  for (stillair_status told; (told = stillair_link_poll(link, 1000000000, &packet)) != STILLAIR_OK;) {
    writable += told == STILLAIR_WRITABLE && packet.from == 1;
    packets += told == STILLAIR_PACKET;
  }
  assert(writable == 1 && packets >= 2 && stillair_link_now(link) == 1000000000);
  stillair_link_free(link);
}

/* Tests a transport against a budget: 10 Mbit/s of datagrams, whatever the path does. */
static bool judged(const char *limit) {
  char text[200], error[200];
  snprintf(text, sizeof text, "seeds = 2\n[path.vdsl-40-10]\ngoodput_mbps = { at_least = 9.5 }\ndelay_p99_ms = { at_most = %s }\n", limit);
  stillair_budget *budget = stillair_budget_read(text, "b.toml", error, sizeof error);
  assert(budget && stillair_budget_cases(budget) == 2);
  const uint64_t ms = 1000000, end = 2000 * ms;
  uint64_t seed = 0;
  for (size_t n = 0; stillair_budget_path(budget, n, &seed); n++) {
    assert(seed == n + 1 && strcmp(stillair_budget_path(budget, n, NULL), "vdsl-40-10") == 0);
    stillair_link *link = stillair_budget_link(budget, n, error, sizeof error);
    stillair_meter *meter = stillair_meter_new();
    uint32_t client = (uint32_t)stillair_link_endpoint(link, "client");
    uint32_t server = (uint32_t)stillair_link_endpoint(link, "server");
    stillair_packet packet;
    for (uint64_t now = 0; now < end; now += ms) {
      while (stillair_link_poll(link, now, &packet) == STILLAIR_PACKET) stillair_meter_add(meter, packet.at_ns, packet.sent_ns, packet.len);
      stillair_link_send(link, now, server, 443, client, 50000, NULL, 1250, 0, 0);
    }
    stillair_link_free(link);
    assert(stillair_budget_measured(budget, n, "goodput_mbps", stillair_meter_goodput_mbps(meter, 100 * ms, end)));
    assert(stillair_budget_measured(budget, n, "delay_p99_ms", stillair_meter_delay_ms(meter, 0.99, 0, end)));
    assert(stillair_meter_recovery_s(meter, 500 * ms, end - 100 * ms, 50 * ms) == 0);
    stillair_meter_free(meter);
  }
  stillair_verdict *verdict = stillair_budget_judge(budget, NULL, error, sizeof error);
  assert(strstr(stillair_verdict_text(verdict, STILLAIR_TABLE), "delay_p99_ms"));
  assert(strstr(stillair_verdict_text(verdict, STILLAIR_MARKDOWN), "| vdsl-40-10 | goodput_mbps |"));
  assert(strstr(stillair_verdict_text(verdict, STILLAIR_JUNIT), "tests=\"2\""));
  stillair_verdict *again = stillair_budget_judge(budget, stillair_verdict_text(verdict, STILLAIR_BASELINE), error, sizeof error);
  assert(strstr(stillair_verdict_text(again, STILLAIR_TABLE), "+0.0 %"));
  assert(stillair_verdict_text(verdict, 4) == NULL);
  bool holds = stillair_verdict_holds(verdict);
  assert(holds == stillair_verdict_holds(again));
  stillair_verdict_free(verdict);
  stillair_verdict_free(again);
  stillair_budget_free(budget);
  return holds;
}

static void mistakes_with_budgets(void) {
  char error[200];
  assert(stillair_budget_read("seeds = 0", "b.toml", error, sizeof error) == NULL && strstr(error, "b.toml:1: "));
  assert(stillair_budget_cases(NULL) == 0 && stillair_budget_path(NULL, 0, NULL) == NULL);
  assert(stillair_budget_link(NULL, 0, error, sizeof error) == NULL && strstr(error, "no such run"));
  assert(stillair_budget_judge(NULL, NULL, error, sizeof error) == NULL && strcmp(error, "no budget") == 0);
  assert(!stillair_verdict_holds(NULL) && stillair_verdict_text(NULL, STILLAIR_TABLE) == NULL);
  stillair_budget_free(NULL);
  stillair_verdict_free(NULL);
  stillair_meter_free(NULL);
  stillair_meter_add(NULL, 1, 0, 1);
  assert(stillair_meter_goodput_mbps(NULL, 0, 1) != stillair_meter_goodput_mbps(NULL, 0, 1));

  stillair_budget *budget = stillair_budget_read("seeds = 2\npath.vdsl-40-10.x.at_most = 1", "b.toml", error, sizeof error);
  assert(budget && stillair_budget_path(budget, 2, NULL) == NULL);
  assert(stillair_budget_link(budget, 2, error, sizeof error) == NULL);
  assert(!stillair_budget_measured(budget, 2, "x", 1) && !stillair_budget_measured(budget, 0, NULL, 1));
  assert(stillair_budget_measured(budget, 0, "x", 1));
  assert(stillair_budget_judge(budget, NULL, error, sizeof error) == NULL);
  assert(strstr(error, "b.toml: path.vdsl-40-10.x: 1 of 2 runs measured it"));
  assert(stillair_budget_judge(budget, "[", error, sizeof error) == NULL && strstr(error, "no baseline"));
  stillair_budget_free(budget);
}

int main(void) {
  size_t presets = 0;
  while (stillair_preset_name(presets)) presets++;
  assert(presets >= 12);
  example();
  mistakes();
  assert(judged("30") && !judged("5"));
  mistakes_with_budgets();
  return 0;
}
