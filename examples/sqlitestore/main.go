// Command sqlitestore is a polite robot whose robots files, paces and failures outlive
// it in an SQLite database: a client.Store of two queries.
//
//	sqlitestore robot.db examplebot gopher://localhost:7070/
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"

	_ "modernc.org/sqlite"

	"github.com/gophd/gophd/robots/client"
)

func main() {
	if len(os.Args) < 4 {
		log.Fatal("usage: sqlitestore DATABASE NAME URL...")
	}
	ctx := context.Background()
	hosts, err := open(ctx, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	c := client.Client{Agent: os.Args[2], Store: hosts}
	for _, u := range os.Args[3:] {
		reply, err := c.Do(ctx, u)
		if err != nil {
			log.Print(err)
			continue
		}
		fmt.Println(reply.URL, reply.Status)
		_ = reply.Body.Close()
	}
	if err := c.Flush(ctx); err != nil {
		log.Fatal(err)
	}
}

// sqliteStore is a client.Store in a database.
type sqliteStore struct{ db *sql.DB }

func open(ctx context.Context, file string) (sqliteStore, error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return sqliteStore{}, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer
	_, err = db.ExecContext(ctx,
		"CREATE TABLE IF NOT EXISTS hosts (origin TEXT PRIMARY KEY, data BLOB)")
	return sqliteStore{db}, err
}

func (t sqliteStore) Load(ctx context.Context, origin string) (data []byte, err error) {
	err = t.db.QueryRowContext(ctx, "SELECT data FROM hosts WHERE origin = ?", origin).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		err = fs.ErrNotExist
	}
	return data, err
}

func (t sqliteStore) Save(ctx context.Context, origin string, data []byte) error {
	_, err := t.db.ExecContext(ctx, "INSERT OR REPLACE INTO hosts VALUES (?, ?)", origin, data)
	return err
}
