// The destination of the bench: one epoll loop that reads each request whole and answers 200.
// upstream PORT    GET /1m answers 1 MiB, /100k 100 KB of JSON, every other path some 90 bytes of JSON.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_MAX = 32 * 1024, READ_MAX = 256 * 1024, MEDIUM = 100 * 1024, LARGE = 1 << 20, EVENTS = 256 };

struct answer {
  char *bytes;
  size_t length;
};

struct connection {
  int fd;
  int waits_to_write;
  char head[HEAD_MAX + 1];
  size_t head_length;
  size_t body_left;
  const struct answer *answering;
  size_t sent;
};

static struct answer small, medium, large, refusal;
static char scratch[READ_MAX];
static int poller;

static void prepare(struct answer *answer, const char *status, size_t length, const char *body) {
  answer->bytes = malloc(length + 256);
  int head = snprintf(answer->bytes, 256,
                      "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                      status, length);
  if (body) memcpy(answer->bytes + head, body, length);
  else memset(answer->bytes + head, 'x', length);
  answer->length = head + length;
}

static void watch(struct connection *c, int writing) {
  if (c->waits_to_write == writing) return;
  c->waits_to_write = writing;
  struct epoll_event event = {.events = writing ? EPOLLOUT : EPOLLIN, .data.ptr = c};
  epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &event);
}

/* Each of these returns 0 when the connection is over. */
static int send_answer(struct connection *c) {
  while (c->sent < c->answering->length) {
    ssize_t n = write(c->fd, c->answering->bytes + c->sent, c->answering->length - c->sent);
    if (n < 0 && errno == EAGAIN) {
      watch(c, 1);
      return 1;
    }
    if (n <= 0) return 0;
    c->sent += n;
  }
  int last = c->answering == &refusal;
  c->answering = NULL;
  watch(c, 0);
  return !last;
}

static int answer(struct connection *c, const struct answer *with) {
  c->answering = with;
  c->sent = 0;
  c->head_length = 0;
  return send_answer(c);
}

static const struct answer *asked(const struct connection *c) {
  if (strstr(c->head, " /100k")) return &medium;
  return strstr(c->head, " /1m") ? &large : &small;
}

static int read_head(struct connection *c, const char *bytes, size_t length) {
  size_t room = HEAD_MAX - c->head_length;
  size_t taken = length < room ? length : room;
  memcpy(c->head + c->head_length, bytes, taken);
  c->head[c->head_length + taken] = 0;
  char *end = strstr(c->head, "\r\n\r\n");
  if (!end) {
    c->head_length += taken;
    return c->head_length < HEAD_MAX;
  }
  size_t of_head = (end - c->head) + 4 - c->head_length;
  *end = 0;
  if (strcasestr(c->head, "\r\ntransfer-encoding:")) return answer(c, &refusal);
  char *field = strcasestr(c->head, "\r\ncontent-length:");
  size_t body = field ? strtoul(field + 17, NULL, 10) : 0;
  size_t here = length - of_head;
  if (here > body) return 0;
  c->body_left = body - here;
  if (c->body_left) return 1;
  return answer(c, asked(c));
}

static int on_readable(struct connection *c) {
  ssize_t n = read(c->fd, scratch, sizeof scratch);
  if (n < 0 && errno == EAGAIN) return 1;
  if (n <= 0) return 0;
  if (!c->body_left) return read_head(c, scratch, n);
  if ((size_t)n > c->body_left) return 0;
  c->body_left -= n;
  return c->body_left ? 1 : answer(c, asked(c));
}

/* A list of orders, so that a search meets letters, digits and quotes. */
static char *orders(void) {
  char *json = malloc(MEDIUM + 256);
  size_t length = 0;
  for (unsigned id = 0; length < MEDIUM; id += 1) {
    length += sprintf(json + length,
                      "%c{\"id\":%u,\"customer\":\"some name of a customer\",\"at\":\"2026-01-%02uT00:00:00Z\","
                      "\"amount\":%u}",
                      id ? ',' : '[', id, id % 28 + 1, id * 2654435761u % 100000);
  }
  return json;
}

static void accept_all(int listener) {
  int one = 1, fd;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct connection *c = calloc(1, sizeof *c);
    c->fd = fd;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  }
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  const char *json = "{\"id\":\"7e0f6f2c-1b1d-4f0a-9d0e-0d4a6f4f9b11\",\"status\":\"ok\",\"amount\":1234}";
  prepare(&small, "200 OK", strlen(json), json);
  prepare(&medium, "200 OK", MEDIUM, orders());
  prepare(&large, "200 OK", LARGE, NULL);
  prepare(&refusal, "411 Length Required", 0, "");
  signal(SIGPIPE, SIG_IGN);
  poller = epoll_create1(0);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in here = {.sin_family = AF_INET,
                             .sin_port = htons(atoi(arguments[1])),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (void *)&here, sizeof here) || listen(listener, 4096)) {
    perror("upstream");
    return 1;
  }
  struct epoll_event events[EVENTS] = {{.events = EPOLLIN, .data.ptr = NULL}};
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &events[0]);
  for (;;) {
    int ready = epoll_wait(poller, events, EVENTS, -1);
    for (int i = 0; i < ready; i += 1) {
      struct connection *c = events[i].data.ptr;
      if (!c) {
        accept_all(listener);
        continue;
      }
      int alive = c->waits_to_write ? send_answer(c) : on_readable(c);
      if (alive) continue;
      close(c->fd);
      free(c);
    }
  }
}
