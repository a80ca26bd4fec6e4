"""Who is told of a run besides its reader: an issue that is kept up to date, a webhook."""
