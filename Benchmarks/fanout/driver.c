// Sends texts into a room and waits until every receiver has shown each of them, in order.
//
// driver chat COUNT WINDOW SENDER-SOCKET RECEIVER-SOCKET...    chatd's Unix sockets, a daemon each
// driver mqtt COUNT WINDOW PORT RECEIVERS                      a broker on 127.0.0.1, QoS 1 both ways
//
// WINDOW: how many texts the sender may be ahead of the slowest receiver, so that nobody's queue limit is what is measured.
// Prints the seconds from the first byte sent to the last text received. Any gap, double or wrong order is an error.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MARK "~#@"  // never seen across a packet id and the text behind it
enum { TEXT = 100, MOST_RECEIVERS = 64, BUFFER = 1 << 18, DEADLINE_MS = 60000 };

typedef struct {
  int socket;
  char *bytes;
  size_t held;
  long next;  // the number of the text that must come next
} Receiver;

static int mqtt;
static long count, window;
static int sender, receivers;
static Receiver receiver[MOST_RECEIVERS];
static char *outgoing;  // what the sender has not written yet
static size_t outgoing_length;

static void fail(const char *what) {
  fprintf(stderr, "driver: %s: %s\n", what, strerror(errno));
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static int unix_socket(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  if (s < 0 || connect(s, (void *)&address, sizeof address)) fail(path);
  return s;
}

static int tcp_socket(int port) {
  struct sockaddr_in address = {AF_INET, htons(port), {htonl(INADDR_LOOPBACK)}, {0}};
  int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);
  if (s < 0 || connect(s, (void *)&address, sizeof address)) fail("broker");
  setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return s;
}

static void put(int s, const void *bytes, size_t length) {
  if (write(s, bytes, length) != (ssize_t)length) fail("write");
}

static void expect(int s, size_t length, unsigned char type) {
  unsigned char answer[8];
  if (recv(s, answer, length, MSG_WAITALL) != (ssize_t)length || answer[0] != type) fail("broker's answer");
}

static int mqtt_client(int port, int number, int subscribes) {
  int s = tcp_socket(port);
  char hello[] = "\x10\x0f\0\4MQTT\4\2\0\0\0\3cNN", subscription[] = "\x82\x09\0\1\0\4room\1";
  snprintf(hello + 14, 4, "c%02d", number);
  put(s, hello, 17);
  expect(s, 4, 0x20);
  if (subscribes) {
    put(s, subscription, 11);
    expect(s, 5, 0x90);
  }
  return s;
}

static void chat_receiver(int s) {
  static const char watch[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\",\"params\":{\"count\":0}}\n";
  char answer[4096];
  put(s, watch, sizeof watch - 1);
  if (read(s, answer, sizeof answer) <= 0) fail("watch");
}

static size_t compose(char *to, long n) {
  char text[TEXT + 1];
  memset(text, 'x', TEXT);
  text[snprintf(text, TEXT, MARK "%08ld", n)] = ' ';
  text[TEXT] = 0;
  if (!mqtt)
    return sprintf(to, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"send\",\"params\":{\"text\":\"%s\"}}\n", n, text);
  unsigned id = n % 65535 + 1;
  memcpy(to, (char[]){0x32, 2 + 4 + 2 + TEXT, 0, 4, 'r', 'o', 'o', 'm', id >> 8, id}, 10);
  memcpy(to + 10, text, TEXT);
  return 10 + TEXT;
}

// Reads what there is: the numbers behind each mark must follow one another.
static void take(Receiver *r) {
  ssize_t got = recv(r->socket, r->bytes + r->held, BUFFER - r->held, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) fail("a receiver's connection");
  size_t length = r->held + got, used = 0;
  for (char *mark; (mark = memmem(r->bytes + used, length - used, MARK, strlen(MARK)));) {
    if (r->bytes + length - mark < TEXT) break;
    long number = atol(mark + strlen(MARK));
    if (number != r->next++) {
      fprintf(stderr, "driver: a receiver got text %ld and not %ld\n", number, r->next - 1);
      exit(1);
    }
    if (mqtt) put(r->socket, (char[]){0x40, 2, mark[-2], mark[-1]}, 4);
    used = mark + TEXT - r->bytes;
  }
  memmove(r->bytes, r->bytes + used, length - used);
  r->held = length - used;
}

static long slowest(void) {
  long least = count;
  for (int i = 0; i < receivers; i++)
    if (receiver[i].next < least) least = receiver[i].next;
  return least;
}

static void flush(void) {
  ssize_t n = send(sender, outgoing, outgoing_length, MSG_DONTWAIT);
  if (n < 0 && errno != EAGAIN && errno != EINTR) fail("the sender's connection");
  if (n <= 0) return;
  memmove(outgoing, outgoing + n, outgoing_length - n);
  outgoing_length -= n;
}

static void run(void) {
  struct pollfd wait[MOST_RECEIVERS + 1];
  char ignored[1 << 16];
  for (long sent = 0, held = 0; held < count; held = slowest()) {
    while (sent < count && sent < held + window && outgoing_length < BUFFER)
      outgoing_length += compose(outgoing + outgoing_length, sent++);
    if (outgoing_length) flush();
    wait[receivers] = (struct pollfd){sender, POLLIN | (outgoing_length ? POLLOUT : 0), 0};
    for (int i = 0; i < receivers; i++) wait[i] = (struct pollfd){receiver[i].socket, POLLIN, 0};
    int ready = poll(wait, receivers + 1, DEADLINE_MS);
    if (ready == 0) errno = ETIMEDOUT;
    if (ready <= 0) fail("waiting for the receivers");
    if (wait[receivers].revents & POLLIN && recv(sender, ignored, sizeof ignored, MSG_DONTWAIT) == 0) fail("the sender");
    for (int i = 0; i < receivers; i++)
      if (wait[i].revents) take(&receiver[i]);
  }
}

int main(int argc, char **argv) {
  if (argc < 6) return fprintf(stderr, "usage: see driver.c\n"), 64;
  mqtt = !strcmp(argv[1], "mqtt");
  count = atol(argv[2]), window = atol(argv[3]);
  receivers = mqtt ? atoi(argv[5]) : argc - 5;
  if (receivers > MOST_RECEIVERS) return 64;
  outgoing = malloc(2 * BUFFER);
  for (int i = 0; i < receivers; i++) {
    receiver[i] = (Receiver){mqtt ? mqtt_client(atoi(argv[4]), i + 1, 1) : unix_socket(argv[5 + i]), malloc(BUFFER), 0, 0};
    if (!mqtt) chat_receiver(receiver[i].socket);
  }
  sender = mqtt ? mqtt_client(atoi(argv[4]), 0, 0) : unix_socket(argv[4]);
  double start = now();
  run();
  printf("%.6f\n", now() - start);
}
