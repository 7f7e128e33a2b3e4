#!/bin/sh
# State of job $1, in the one word that Snakemake wants. A controller that does not answer is no
# sign that the job failed; a job that it does not know any more is (MinJobAge, five minutes at
# least, is far longer than Snakemake waits between two questions).
if ! told=$(scontrol --oneliner show job "$1" 2>&1); then
  case "$told" in
    *"Invalid job id"*) echo failed ;;
    *) echo running ;;
  esac
  exit
fi
case "$told" in
  *" JobState=COMPLETED "*) echo success ;;
  *" JobState=PENDING "* | *" JobState=CONFIGURING "* | *" JobState=RUNNING "*) echo running ;;
  *" JobState=COMPLETING "* | *" JobState=SUSPENDED "*) echo running ;;
  *) echo failed ;;
esac
