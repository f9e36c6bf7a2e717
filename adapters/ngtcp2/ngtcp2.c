/* Debian's ngtcp2 with GnuTLS over a link: a server writes without end for ten seconds, a client reads.
 *
 * Usage: ngtcp2 CONTROLLER PATH SEED [QLOG-FILE]
 * Prints the bytes read by the client and the packets declared lost by the server's stack; on a second line, the link's statistics as JSON. */
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stillair.h"

#define SECOND UINT64_C(1000000000)
#define LENGTH (10 * SECOND)
#define WINDOW (16u << 20) /* not filled by the fastest preset */
#define PAYLOAD 1472       /* for Ethernet's MTU */
#define PRIORITY "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:%DISABLE_TLS13_COMPAT_MODE"

static const struct {
  const char *name;
  ngtcp2_cc_algo algo;
} CONTROLLERS[] = {{"reno", NGTCP2_CC_ALGO_RENO}, {"cubic", NGTCP2_CC_ALGO_CUBIC}, {"bbr", NGTCP2_CC_ALGO_BBR}, {"bbr2", NGTCP2_CC_ALGO_BBR2}};

static const uint8_t CONTENT[1 << 16];

/* One end of a connection. */
struct end {
  ngtcp2_conn *conn;
  gnutls_session_t tls;
  ngtcp2_crypto_conn_ref ref;
  struct sockaddr_in own, other;
  uint32_t at, to;          /* endpoints of the link */
  int64_t writes;           /* stream that the server writes, or -1 */
  ngtcp2_cc_algo algo;
  gnutls_certificate_credentials_t credentials;
  uint64_t read, lost;
  FILE *qlog;
};

static void die(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

/* Not for secrets: the same connection IDs for the same seed. (splitmix64) */
static uint64_t seed;
static void draw(uint8_t *dest, size_t len) {
  while (len--) {
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    *dest++ = (uint8_t)(z >> 56);
  }
}

static void on_rand(uint8_t *dest, size_t len, const ngtcp2_rand_ctx *unused) {
  (void)unused;
  draw(dest, len);
}

static int on_new_id(ngtcp2_conn *conn, ngtcp2_cid *cid, uint8_t *token, size_t len, void *unused) {
  (void)conn, (void)unused;
  cid->datalen = len;
  draw(cid->data, len);
  draw(token, NGTCP2_STATELESS_RESET_TOKENLEN);
  return 0;
}

static int on_data(ngtcp2_conn *conn, uint32_t flags, int64_t stream, uint64_t offset, const uint8_t *data, size_t len, void *end,
                   void *unused) {
  (void)flags, (void)offset, (void)data, (void)unused;
  ((struct end *)end)->read += len;
  ngtcp2_conn_extend_max_stream_offset(conn, stream, len);
  ngtcp2_conn_extend_max_offset(conn, len);
  return 0;
}

/* The server may open the stream when the client's parameters allow it. */
static int on_streams(ngtcp2_conn *conn, uint64_t most, void *user) {
  struct end *end = user;
  return end->writes >= 0 || most == 0 ? 0 : ngtcp2_conn_open_uni_stream(conn, &end->writes, NULL);
}

/* Each event is a separate call. */
static void on_qlog(void *user, uint32_t flags, const void *data, size_t len) {
  static const char LOST[] = "recovery:packet_lost";
  struct end *end = user;
  (void)flags;
  for (size_t at = 0; at + sizeof LOST - 1 <= len; at++)
    if (memcmp((const char *)data + at, LOST, sizeof LOST - 1) == 0) {
      end->lost++;
      break;
    }
  if (end->qlog) fwrite(data, 1, len, end->qlog);
}

static ngtcp2_conn *conn_of(ngtcp2_crypto_conn_ref *ref) { return ((struct end *)ref->user_data)->conn; }

static ngtcp2_path path_of(struct end *end) {
  ngtcp2_path path = {{(ngtcp2_sockaddr *)&end->own, sizeof end->own}, {(ngtcp2_sockaddr *)&end->other, sizeof end->other}, NULL};
  return path;
}

/* Starts a connection. `first` is the client's first packet, or null at the client. */
static void begin(struct end *end, const ngtcp2_pkt_hd *first, uint64_t now) {
  ngtcp2_callbacks callbacks = {
      .client_initial = ngtcp2_crypto_client_initial_cb,
      .recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
      .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
      .encrypt = ngtcp2_crypto_encrypt_cb,
      .decrypt = ngtcp2_crypto_decrypt_cb,
      .hp_mask = ngtcp2_crypto_hp_mask_cb,
      .recv_retry = ngtcp2_crypto_recv_retry_cb,
      .update_key = ngtcp2_crypto_update_key_cb,
      .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
      .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
      .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
      .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
      .rand = on_rand,
      .get_new_connection_id = on_new_id,
      .recv_stream_data = on_data,
      .extend_max_local_streams_uni = first ? on_streams : NULL,
  };
  ngtcp2_settings settings;
  ngtcp2_settings_default(&settings);
  settings.cc_algo = end->algo;
  settings.initial_ts = now;
  settings.max_tx_udp_payload_size = PAYLOAD;
  ngtcp2_transport_params params;
  ngtcp2_transport_params_default(&params);
  params.initial_max_data = params.initial_max_stream_data_uni = WINDOW;
  params.initial_max_streams_uni = 1;
  ngtcp2_cid own = {.datalen = 16}, other = {.datalen = 16};
  draw(own.data, own.datalen);
  draw(other.data, other.datalen);
  ngtcp2_path path = path_of(end);
  int wrong;
  if (first) {
    settings.qlog.write = on_qlog;
    settings.qlog.odcid = params.original_dcid = first->dcid;
    wrong = ngtcp2_conn_server_new(&end->conn, &first->scid, &own, &path, first->version, &callbacks, &settings, &params, NULL, end);
  } else {
    wrong = ngtcp2_conn_client_new(&end->conn, &other, &own, &path, NGTCP2_PROTO_VER_V1, &callbacks, &settings, &params, NULL, end);
  }
  if (wrong) die("ngtcp2_conn", ngtcp2_strerror(wrong));
  wrong = gnutls_init(&end->tls, first ? GNUTLS_SERVER : GNUTLS_CLIENT);
  if (!wrong) wrong = gnutls_priority_set_direct(end->tls, PRIORITY, NULL);
  if (!wrong) wrong = gnutls_credentials_set(end->tls, GNUTLS_CRD_CERTIFICATE, end->credentials);
  if (!wrong) wrong = first ? ngtcp2_crypto_gnutls_configure_server_session(end->tls) : ngtcp2_crypto_gnutls_configure_client_session(end->tls);
  if (wrong) die("GnuTLS", gnutls_strerror(wrong));
  end->ref.get_conn = conn_of;
  end->ref.user_data = end;
  gnutls_session_set_ptr(end->tls, &end->ref);
  ngtcp2_conn_set_tls_native_handle(end->conn, end->tls);
}

/* Creates a random certificate for the server; the client does not verify it. */
static void certify(gnutls_certificate_credentials_t credentials) {
  gnutls_x509_privkey_t key;
  gnutls_x509_crt_t certificate;
  int wrong = gnutls_x509_privkey_init(&key);
  if (!wrong) wrong = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
  if (!wrong) wrong = gnutls_x509_crt_init(&certificate);
  if (!wrong) wrong = gnutls_x509_crt_set_version(certificate, 3);
  if (!wrong) wrong = gnutls_x509_crt_set_serial(certificate, "\1", 1);
  if (!wrong) wrong = gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, "localhost", 9);
  if (!wrong) wrong = gnutls_x509_crt_set_activation_time(certificate, 0);
  if (!wrong) wrong = gnutls_x509_crt_set_expiration_time(certificate, 4000000000u);
  if (!wrong) wrong = gnutls_x509_crt_set_key(certificate, key);
  if (!wrong) wrong = gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
  if (!wrong) wrong = gnutls_certificate_set_x509_key(credentials, &certificate, 1, key);
  if (wrong < 0) die("a certificate", gnutls_strerror(wrong));
  gnutls_x509_crt_deinit(certificate);
  gnutls_x509_privkey_deinit(key);
}

static void receive(struct end *end, const stillair_packet *packet, uint64_t now) {
  ngtcp2_pkt_hd first;
  if (!end->conn) {
    if (ngtcp2_accept(&first, packet->payload, packet->len) != 0) return;
    begin(end, &first, now);
  }
  ngtcp2_path path = path_of(end);
  ngtcp2_pkt_info info = {.ecn = packet->ecn};
  int wrong = ngtcp2_conn_read_pkt(end->conn, &path, &info, packet->payload, packet->len, now);
  if (wrong) die("ngtcp2_conn_read_pkt", ngtcp2_strerror(wrong));
}

/* Sends as much as windows and pacing allow. */
static void transmit(struct end *end, stillair_link *link, uint64_t link_now, uint64_t now) {
  uint8_t bytes[PAYLOAD];
  size_t quantum = ngtcp2_conn_get_send_quantum(end->conn), sent = 0;
  int64_t stream = end->writes;
  while (sent < quantum) {
    ngtcp2_path_storage path;
    ngtcp2_path_storage_zero(&path);
    ngtcp2_pkt_info info = {0};
    ngtcp2_vec content = {(uint8_t *)CONTENT, sizeof CONTENT};
    ngtcp2_ssize taken = 0;
    ngtcp2_ssize len = ngtcp2_conn_writev_stream(end->conn, &path.path, &info, bytes, sizeof bytes, &taken, NGTCP2_WRITE_STREAM_FLAG_NONE,
                                                 stream, &content, stream < 0 ? 0 : 1, now);
    if (len == NGTCP2_ERR_STREAM_DATA_BLOCKED) {
      stream = -1; /* acknowledgements are still allowed */
      continue;
    }
    if (len < 0) die("ngtcp2_conn_writev_stream", ngtcp2_strerror((int)len));
    if (len == 0) break;
    /* Drops by the host's own queue count as losses, as for a socket without IP_RECVERR. */
    stillair_status told = stillair_link_send(link, link_now, end->at, 50000, end->to, 443, bytes, (size_t)len, info.ecn, 0);
    if (told < 0) die("stillair_link_send", "refused");
    sent += (size_t)len;
  }
  ngtcp2_conn_update_pkt_tx_time(end->conn, now);
}

int main(int count, char **words) {
  if (count < 4) die("usage", "ngtcp2 CONTROLLER PATH SEED [QLOG-FILE]");
  struct end client = {.writes = -1}, server = {.writes = -1};
  size_t n = 0, all = sizeof CONTROLLERS / sizeof *CONTROLLERS;
  while (n < all && strcmp(words[1], CONTROLLERS[n].name) != 0) n++;
  if (n == all) die(words[1], "ngtcp2 has no such controller, expected reno, cubic, bbr or bbr2");
  client.algo = server.algo = CONTROLLERS[n].algo;
  seed = strtoull(words[3], NULL, 10);
  char error[400];
  stillair_link *link = stillair_link_preset(words[2], seed, error, sizeof error);
  if (!link) die("the link", error);
  client.at = server.to = (uint32_t)stillair_link_endpoint(link, "client");
  server.at = client.to = (uint32_t)stillair_link_endpoint(link, "server");
  client.own = server.other = (struct sockaddr_in){AF_INET, htons(50000), {htonl(0xc0000201)}, {0}};
  server.own = client.other = (struct sockaddr_in){AF_INET, htons(443), {htonl(0xc0000202)}, {0}};
  if (count > 4 && !(server.qlog = fopen(words[4], "w"))) die(words[4], "cannot be written");
  if (gnutls_certificate_allocate_credentials(&client.credentials) || gnutls_certificate_allocate_credentials(&server.credentials))
    die("GnuTLS", "no credentials");
  certify(server.credentials);

  /* To ngtcp2 a time of 0 means no time: its clock is a second ahead of the link's. */
  struct end *ends[] = {&client, &server};
  uint64_t now = 0;
  begin(&client, NULL, SECOND);
  for (;;) {
    uint64_t timer = LENGTH;
    for (n = 0; n < 2; n++) {
      struct end *end = ends[n];
      if (!end->conn) continue;
      if (ngtcp2_conn_get_expiry(end->conn) <= SECOND + now) {
        int wrong = ngtcp2_conn_handle_expiry(end->conn, SECOND + now);
        if (wrong) die("ngtcp2_conn_handle_expiry", ngtcp2_strerror(wrong));
      }
      transmit(end, link, now, SECOND + now);
      uint64_t expiry = ngtcp2_conn_get_expiry(end->conn);
      if (expiry < SECOND + timer) timer = expiry > SECOND + now ? expiry - SECOND : now;
    }
    if (now >= LENGTH) break;
    stillair_packet packet;
    stillair_status told = stillair_link_poll(link, timer, &packet);
    if (told < 0) die("stillair_link_poll", "refused");
    now = stillair_link_now(link);
    /* Receive everything that arrives at this time before anything is sent. */
    for (; told != STILLAIR_OK; told = stillair_link_poll(link, now, &packet))
      if (told == STILLAIR_PACKET) receive(packet.to == client.at ? &client : &server, &packet, SECOND + now);
  }

  char *seen = stillair_link_finish(link, error, sizeof error);
  if (!seen) die("the link", error);
  for (n = 0; n < 2; n++) {
    if (ends[n]->conn) ngtcp2_conn_del(ends[n]->conn); /* also ends its qlog */
    if (ends[n]->tls) gnutls_deinit(ends[n]->tls);
    gnutls_certificate_free_credentials(ends[n]->credentials);
  }
  if (server.qlog && fclose(server.qlog)) die(words[4], "cannot be written");
  printf("%llu %llu\n%s\n", (unsigned long long)client.read, (unsigned long long)server.lost, seen);
  stillair_text_free(seen);
  return 0;
}
