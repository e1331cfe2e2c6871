// Opens a tunnel for each connection, for clients that know no proxy: opener PORT PROXY_PORT HEAD
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int proxy_port;
static const char *head;

static struct sockaddr_in local(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

static int at_once(int fd) {
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

static int open_tunnel(void) {
  struct sockaddr_in address = local(proxy_port);
  int fd = at_once(socket(AF_INET, SOCK_STREAM, 0));
  char answer[4096];
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) return -1;
  if (write(fd, head, strlen(head)) < 0) return -1;
  // The other side speaks again only after the handshake has begun.
  ssize_t length = read(fd, answer, sizeof answer - 1);
  if (length <= 0 || strncmp(answer, "HTTP/1.1 200", 12) != 0) {
    fprintf(stderr, "CONNECT: %.*s\n", (int)(length > 0 ? length : 0), answer);
    return -1;
  }
  return fd;
}

static int pass(int from, int to) {
  char bytes[65536];
  ssize_t length = read(from, bytes, sizeof bytes);
  for (ssize_t sent = 0, now; sent < length; sent += now) {
    now = write(to, bytes + sent, (size_t)(length - sent));
    if (now <= 0) return 0;
  }
  return length > 0;
}

static void *serve(void *given) {
  int client = at_once((int)(intptr_t)given);
  int tunnel = open_tunnel();
  struct pollfd ends[] = {{client, POLLIN, 0}, {tunnel, POLLIN, 0}};
  int open = tunnel >= 0;
  while (open && poll(ends, 2, -1) > 0) {
    if (ends[0].revents) open = pass(client, tunnel);
    if (open && ends[1].revents) open = pass(tunnel, client);
  }
  close(client);
  if (tunnel >= 0) close(tunnel);
  return NULL;
}

int main(int count, char **args) {
  if (count != 4) return 2;
  proxy_port = atoi(args[2]);
  head = args[3];
  int yes = 1;
  int server = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = local(atoi(args[1]));
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(server, (struct sockaddr *)&address, sizeof address) != 0) return 1;
  if (listen(server, 1024) != 0) return 1;
  for (;;) {
    int client = accept(server, NULL, NULL);
    pthread_t thread;
    if (client < 0) continue;
    if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)client) != 0) close(client);
    else pthread_detach(thread);
  }
}
