# Clones, commits a file, and pushes it. The credential is an expression.
# sh git.sh URL
set -e
export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1
git config --global user.name Agent
git config --global user.email agent@shop.example
git config --global http.extraHeader "Authorization: Basic $GIT_CREDENTIAL"
git clone --quiet "$1" clone
cd clone
cat README
# More than Git sends at once: in chunks.
head -c 3000000 /dev/urandom > large
git add large
git commit --quiet --message large
git push --quiet origin HEAD
